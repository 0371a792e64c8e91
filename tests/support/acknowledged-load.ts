import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { call } from './http.js';
import { createSampleProject, type SampleProject } from './sample-project.js';
import type { RunningService } from './service.js';

const SENDERS = 4;
export const EVENTS_PER_BATCH = 50;
const LARGE_PROMPT = 'p'.repeat(6_000);
const SETTLE_TIMEOUT_MS = 180_000;
const SAMPLED_EVENTS = 97;

interface Batch {
  /** Counted from 1. */
  readonly number: number;
  /** Place of the project among all. */
  readonly project: number;
  /**
   * Text in addition to the usage. It makes every other batch large enough for a segment file, and for a write at the
   * same time as another one.
   */
  readonly prompt: string;
  readonly events: readonly { idempotency_key: string; tokens: number }[];
}

/** The acknowledged events of one project, by their idempotency keys. */
interface Acknowledged {
  readonly sample: SampleProject;
  readonly tokens: Map<string, number>;
  readonly ids: Map<string, string>;
}

/**
 * Sends events to processes of an installation that a test kills, and knows which were acknowledged: each of these must
 * be counted once. A batch without a 202 is sent again.
 */
export class AcknowledgedLoad {
  /** Batches with a 202. */
  acknowledgedBatches = 0;
  readonly #acknowledged = new Set<number>();
  readonly #services: readonly RunningService[];
  readonly #projects: Acknowledged[] = [];
  readonly #occurredAt = Math.floor(Date.now() / 1000) - 3_600;
  #resend: Batch[] = [];
  /** Number of batches for which `goOn` waits. */
  #goal = 0;
  #aheadMax = Number.POSITIVE_INFINITY;
  #pauseMs = 0;
  /** Senders that wait for another goal. */
  readonly #waiting: (() => void)[] = [];
  #batches = 0;
  #isStopped = true;
  #senders: Promise<unknown> = Promise.resolve();

  private constructor(services: readonly RunningService[]) {
    this.#services = services;
  }

  /** @param services the processes that accept events; a request goes to one of those that run */
  static async create(services: readonly RunningService[], projects: number): Promise<AcknowledgedLoad> {
    const load = new AcknowledgedLoad(services);
    const [first] = services;
    if (first === undefined) throw new Error('the load needs a service');
    while (load.#projects.length < projects) {
      const sample = await createSampleProject(first);
      load.#projects.push({ sample, tokens: new Map(), ids: new Map() });
    }
    return load;
  }

  /**
   * Sends until `stop` is called, or until no service runs.
   *
   * @param aheadMax upper bound of the batches beyond the goal of `goOn`; without it, a long run fills the queue
   * @param pauseMs of each sender after a batch, for a load that lasts as long as something slow
   */
  start(aheadMax = Number.POSITIVE_INFINITY, pauseMs = 0): void {
    this.#isStopped = false;
    this.#aheadMax = aheadMax;
    this.#pauseMs = pauseMs;
    this.#senders = Promise.all(Array.from({ length: SENDERS }, () => this.#send()));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wakeSenders();
    await this.#senders;
  }

  /** Waits until so many more batches have been acknowledged. */
  async goOn(batches: number): Promise<void> {
    const goal = this.acknowledgedBatches + batches;
    this.#goal = goal;
    this.#wakeSenders();
    await waitFor(() => this.acknowledgedBatches >= goal, {
      timeoutMs: SETTLE_TIMEOUT_MS,
      what: `${batches} acknowledged batches`,
    });
  }

  /** Sends what is left, and waits until every acknowledged event is queryable, once. */
  async expectAllOnce(): Promise<void> {
    for (const batch of this.#resend.splice(0)) await this.#postAgain(batch);
    for (const project of this.#projects) await this.#expectOnce(project);
  }

  /** The projects that get the events. */
  get samples(): readonly SampleProject[] {
    return this.#projects.map(({ sample }) => sample);
  }

  /** Returns the batches that have been acknowledged so far. */
  acknowledged(): number[] {
    return [...this.#acknowledged];
  }

  /** Sends acknowledged batches a second time. */
  async sendAgain(batches: readonly number[]): Promise<void> {
    for (const number of batches) await this.#postAgain(this.#batch(number));
  }

  /** Waits until all accepted events are queryable, and returns how many were rated in all projects. */
  async processed(): Promise<number> {
    let sum = 0;
    for (const { sample } of this.#projects) sum += (await this.#settled(sample)).processed;
    return sum;
  }

  async #send(): Promise<void> {
    while (!this.#isStopped && this.#services.some(({ hasEnded }) => !hasEnded)) {
      if (this.acknowledgedBatches >= this.#goal + this.#aheadMax) {
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
        continue;
      }
      const batch = this.#resend.pop() ?? this.#batch(++this.#batches);
      if (await this.#post(batch)) this.acknowledgedBatches += 1;
      else this.#resend.push(batch);
      if (this.#pauseMs > 0) await delay(this.#pauseMs);
    }
  }

  #wakeSenders(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #batch(number: number): Batch {
    const events = Array.from({ length: EVENTS_PER_BATCH }, (_, index) => {
      const sequence = (number - 1) * EVENTS_PER_BATCH + index + 1;
      return { idempotency_key: `event-${sequence}`, tokens: 1 + ((sequence * 7_919) % 5_000) };
    });
    return {
      number,
      project: number % this.#projects.length,
      prompt: number % 2 === 0 ? LARGE_PROMPT : '',
      events,
    };
  }

  /** Whether the batch was acknowledged. A broken connection shows a crash from outside. */
  async #post(batch: Batch): Promise<boolean> {
    const project = this.#projects[batch.project] as Acknowledged;
    const { projectId, ruleSetId, key } = project.sample;
    const events = batch.events.map(({ idempotency_key, tokens }) => ({
      extractor_rule_set_id: ruleSetId,
      idempotency_key,
      occurred_at: this.#occurredAt,
      raw_json: {
        customer: 'c',
        model: 'm',
        prompt: batch.prompt,
        usage: { input_tokens: tokens, output_tokens: 1 },
      },
    }));
    const running = this.#services.filter(({ hasEnded }) => !hasEnded);
    const service = running[this.acknowledgedBatches % running.length];
    if (service === undefined) return false;
    const path = `/v1/projects/${projectId}/events/batch-ingest`;
    const answer = await call(service, 'POST', path, { key, body: { source: 'crash', events } }).catch(
      () => undefined,
    );
    if (answer?.status !== 202) return false;
    this.#acknowledged.add(batch.number);
    for (const [index, { idempotency_key, tokens }] of batch.events.entries()) {
      const id = answer.body.raw_event_ids[index] as string;
      expect(project.ids.get(idempotency_key) ?? id).toBe(id);
      project.ids.set(idempotency_key, id);
      project.tokens.set(idempotency_key, tokens);
    }
    return true;
  }

  async #expectOnce({ sample, tokens, ids }: Acknowledged): Promise<void> {
    const expected = {
      events: tokens.size,
      tokens: [...tokens.values()].reduce((sum, each) => sum + each, 0),
    };
    expect(await this.#settled(sample)).toMatchObject({ processed: expected.events, failed: 0 });
    const { body } = await call(this.#first, 'POST', `/v1/projects/${sample.projectId}/analysis/query`, {
      key: sample.key,
      body: {
        metrics: ['llm.input_tokens'],
        time_range: { from: this.#occurredAt - 60, to: this.#occurredAt + 60 },
        bucket_size: 'none',
      },
    });
    expect(body.rows).toMatchObject([{ item_count: expected.events, quantity: String(expected.tokens) }]);
    const some = [...ids.values()].filter((_id, index) => index % SAMPLED_EVENTS === 0);
    for (const id of some) expect((await this.#get(sample, `usage/events/${id}`)).status).toBe('processed');
  }

  /** Waits until no event of a project is on its way, and returns its ingest status. */
  async #settled(sample: SampleProject) {
    const status = () => this.#get(sample, 'usage/ingest-status');
    await waitFor(
      async () => {
        const { pending, lag_seconds } = await status();
        return pending === 0 && lag_seconds === 0;
      },
      { timeoutMs: SETTLE_TIMEOUT_MS, what: 'an empty queue' },
    );
    return status();
  }

  /** A long run can leave the queue full: then a batch is refused until some of it is rated. */
  async #postAgain(batch: Batch): Promise<void> {
    const what = 'a batch that is sent again';
    await waitFor(() => this.#post(batch), { timeoutMs: SETTLE_TIMEOUT_MS, what });
  }

  async #get({ projectId, key }: SampleProject, path: string) {
    const answer = await call(this.#first, 'GET', `/v1/projects/${projectId}/${path}`, { key });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  get #first(): RunningService {
    return this.#services[0] as RunningService;
  }
}
