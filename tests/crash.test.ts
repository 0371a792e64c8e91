import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

/** `TOLLGATE_CRASH_ROUNDS=20 npm test -- tests/crash.test.ts` is the long version. */
const ROUNDS = Number(process.env.TOLLGATE_CRASH_ROUNDS ?? 4);
const SENDERS = 4;
/** Their events are in several shards, and in the same segment when there is one shard. */
const PROJECTS = 3;
/** The numbers of shards, one for each start. */
const SHARDS = ['8', '1', '64', '3'];
const BATCH_EVENTS = 100;
const LARGE_PROMPT = 'p'.repeat(3_000);
/** A round's crash comes after so many acknowledged batches, a different number each time. */
const ACKNOWLEDGED_BATCHES_MIN = 5;
const ACKNOWLEDGED_BATCHES_SPREAD = 30;
const SETTLE_TIMEOUT_MS = 60_000;

interface Batch {
  /** Place of the project among all. */
  readonly project: number;
  /**
   * Text in addition to the usage. It makes every other batch large enough for a segment file, and for a write at the
   * same time as another one.
   */
  readonly prompt: string;
  readonly events: readonly { idempotency_key: string; tokens: number }[];
}

describe(`kill -9 under load, ${ROUNDS} times`, () => {
  let service: RunningService;
  const projects: SampleProject[] = [];
  const occurredAt = Math.floor(Date.now() / 1000) - 3_600;
  let sequence = 0;
  /** For each project, the tokens and the ids of acknowledged events, by their keys. */
  const acknowledged = Array.from({ length: PROJECTS }, () => new Map<string, number>());
  const ids = Array.from({ length: PROJECTS }, () => new Map<string, string>());
  let resend: Batch[] = [];

  beforeAll(async () => {
    service = await startService({ env: { TOLLGATE_SHARDS: SHARDS.at(-1) as string } });
    while (projects.length < PROJECTS) projects.push(await createSampleProject(service));
  });
  afterAll(() => service?.stop());

  function nextBatch(): Batch {
    const events = Array.from({ length: BATCH_EVENTS }, () => {
      sequence += 1;
      return { idempotency_key: `event-${sequence}`, tokens: 1 + ((sequence * 7_919) % 5_000) };
    });
    const batch = sequence / BATCH_EVENTS;
    return { project: batch % PROJECTS, prompt: batch % 2 === 0 ? LARGE_PROMPT : '', events };
  }

  function projectOf(place: number): SampleProject {
    const project = projects[place];
    if (project === undefined) throw new Error(`there is no project ${place}`);
    return project;
  }

  /** Whether the batch was acknowledged; a broken connection is what a crash looks like from outside. */
  async function send(batch: Batch): Promise<boolean> {
    const project = projectOf(batch.project);
    const events = batch.events.map(({ idempotency_key, tokens }) => ({
      extractor_rule_set_id: project.ruleSetId,
      idempotency_key,
      occurred_at: occurredAt,
      raw_json: {
        customer: 'c',
        model: 'm',
        prompt: batch.prompt,
        usage: { input_tokens: tokens, output_tokens: 1 },
      },
    }));
    try {
      const path = `/v1/projects/${project.projectId}/events/batch-ingest`;
      const answer = await call(service, 'POST', path, {
        key: project.key,
        body: { source: 'crash', events },
      });
      if (answer.status !== 202) return false;
      remember(batch, answer.body.raw_event_ids);
      return true;
    } catch {
      return false;
    }
  }

  function remember(batch: Batch, rawEventIds: readonly string[]): void {
    for (const [index, { idempotency_key, tokens }] of batch.events.entries()) {
      acknowledged[batch.project]?.set(idempotency_key, tokens);
      const id = rawEventIds[index] as string;
      expect(ids[batch.project]?.get(idempotency_key) ?? id).toBe(id);
      ids[batch.project]?.set(idempotency_key, id);
    }
  }

  async function loadUntilCrash(round: number): Promise<void> {
    const goal = ACKNOWLEDGED_BATCHES_MIN + ((round * 13) % ACKNOWLEDGED_BATCHES_SPREAD);
    let done = 0;
    let isCrashed = false;
    const unanswered: Batch[] = [];
    const sender = async () => {
      while (!isCrashed) {
        const batch = resend.pop() ?? nextBatch();
        if (await send(batch)) done += 1;
        else unanswered.push(batch);
      }
    };
    const senders = Array.from({ length: SENDERS }, sender);
    await waitFor(() => done >= goal, { timeoutMs: SETTLE_TIMEOUT_MS, what: `${goal} acknowledged batches` });
    // Every other time PostgreSQL is left behind as an orphan.
    await service.crash(round % 2 === 0 ? 'service and stores' : 'service');
    isCrashed = true;
    await Promise.all(senders);
    resend = [...resend, ...unanswered];
  }

  async function get(place: number, path: string) {
    const { projectId, key } = projectOf(place);
    const answer = await call(service, 'GET', `/v1/projects/${projectId}/${path}`, { key });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  async function expectOnce(place: number): Promise<void> {
    const expected = acknowledged[place] as ReadonlyMap<string, number>;
    await waitFor(
      async () => {
        const status = await get(place, 'usage/ingest-status');
        return status.pending === 0 && status.lag_seconds === 0;
      },
      { timeoutMs: SETTLE_TIMEOUT_MS, what: 'an empty queue' },
    );
    const status = await get(place, 'usage/ingest-status');
    expect(status.processed).toBe(expected.size);
    expect(status.failed).toBe(0);
    const { projectId, key } = projectOf(place);
    const answer = await call(service, 'POST', `/v1/projects/${projectId}/analysis/query`, {
      key,
      body: {
        metrics: ['llm.input_tokens'],
        time_range: { from: occurredAt - 60, to: occurredAt + 60 },
        bucket_size: 'none',
      },
    });
    const expectedTokens = [...expected.values()].reduce((sum, tokens) => sum + tokens, 0);
    expect(answer.body.rows).toHaveLength(1);
    expect(answer.body.rows[0].item_count).toBe(expected.size);
    expect(answer.body.rows[0].quantity).toBe(String(expectedTokens));
    const sample = [...(ids[place]?.values() ?? [])].filter((_id, index) => index % 97 === 0);
    for (const id of sample) expect((await get(place, `usage/events/${id}`)).status).toBe('processed');
  }

  it('loses nothing that was acknowledged and rates nothing twice, whatever the number of shards', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await loadUntilCrash(round);
      await service.start({ TOLLGATE_SHARDS: SHARDS[round % SHARDS.length] as string });
    }
    for (const batch of resend) expect(await send(batch)).toBe(true);
    for (let place = 0; place < PROJECTS; place += 1) await expectOnce(place);
    const verified = await service.runCommand(['verify']);
    expect(verified.exitCode, verified.output).toBe(0);
  }, 600_000);
});
