import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnalysisQuery, AnalysisResult, StreamBuckets } from '@tollgate/contract';
import { createLog } from '../../../platform/log/index.js';
import { createMetrics, type Metrics } from '../../../platform/metrics/index.js';
import { PostgresSegmentQueue } from '../../../platform/queue/index.js';
import { createTestApi, type TestApi } from '../../../testing/api.js';
import { everythingKept } from '../../../testing/history.js';
import {
  batchRecord,
  createTestClickHouse,
  type TestClickHouse,
  type TestProject,
  testEvent,
  testRules,
} from '../../../testing/index.js';
import { createWorkerCatalog } from '../../limits/index.js';
import {
  createColumnSpool,
  createPipelineWorker,
  createProjector,
  type PipelineWorker,
} from '../../pipeline/index.js';
import { registerAnalysisRoutes } from '../index.js';
import { namesOf } from '../known-names.testing.js';
import type { SavedQuery } from './followed-queries.js';
import { LiveStreams } from './live-streams.js';
import { registerStreamRoutes } from './routes.js';
import { WatchedClickHouse } from './watched-clickhouse.testing.js';

/** One event as a client receives it. */
export interface ReceivedEvent {
  readonly name: string;
  /** Undefined where the event brings none. */
  readonly id: number | undefined;
  readonly data: ReturnType<typeof JSON.parse>;
}

export interface StreamRequest {
  readonly queries?: readonly (AnalysisQuery | string)[];
  readonly charts?: readonly string[];
  readonly lastSeconds?: number;
  readonly key?: string;
  readonly lastEventId?: number | string;
}

/** Streams over a socket, with a worker and a projector that tests run step by step. */
export class StreamFixture {
  readonly #pipeline: Pipeline;
  #keys = 0;

  private constructor(
    readonly api: TestApi,
    readonly store: TestClickHouse,
    readonly project: TestProject,
    readonly streams: LiveStreams,
    readonly metrics: Metrics,
    readonly clickhouse: WatchedClickHouse,
    /** Charts of the project, by their ids. */
    readonly charts: Map<string, SavedQuery>,
    pipeline: Pipeline,
  ) {
    this.#pipeline = pipeline;
  }

  static async open(): Promise<StreamFixture> {
    const store = await createTestClickHouse();
    const clickhouse = new WatchedClickHouse(store.clickhouse);
    const metrics = createMetrics();
    const charts = new Map<string, SavedQuery>();
    let streams: LiveStreams | undefined;
    const api = await createTestApi((app, { postgres, clock }) => {
      streams = new LiveStreams({
        postgres,
        clickhouse,
        history: everythingKept,
        clock,
        log: createLog({ level: 'silent' }),
      });
      registerAnalysisRoutes(app, {
        clickhouse: store.clickhouse,
        history: everythingKept,
        clock,
        names: namesOf(store.clickhouse),
      });
      registerStreamRoutes(app, { streams, charts: { queriesOf: async () => charts }, clock, metrics });
    });
    if (streams === undefined) throw new Error('no routes were registered');
    const project = await projectOf(api);
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    const pipeline = pipelineOf(api, store);
    return new StreamFixture(api, store, project, streams, metrics, clickhouse, charts, pipeline);
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.store.drop();
  }

  get nowS(): number {
    return this.api.clock.nowMs() / 1000;
  }

  /** Accepts, rates and projects events that occurred at these times; each costs 2 USD for one token. */
  async use(...times: number[]): Promise<void> {
    const events = times.map((occurredAt) =>
      testEvent(`k${this.#keys++}`, {
        occurred_at: occurredAt,
        subject_type: 'user',
        subject_id: `u${occurredAt % 3}`,
      }),
    );
    await new PostgresSegmentQueue(this.api.postgres).append([batchRecord(this.project, events)]);
    await this.#pipeline.worker.drain();
    await this.#pipeline.projector.drain();
  }

  /** Looks for changes, and waits until they are sent. */
  async tick(): Promise<void> {
    await this.streams.tick();
    await this.streams.settled();
  }

  async follow({ key = this.api.serviceKey, lastEventId, ...followed }: StreamRequest): Promise<EventClient> {
    const search = searchOf(followed);
    const { port } = this.api.app.server.address() as AddressInfo;
    const sent = request({
      port,
      path: `/v1/projects/${this.api.projectId}/analysis/stream?${search}`,
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
      },
    });
    return EventClient.open(sent);
  }

  /** Runs an analysis query and returns its current result. */
  async ask(query: AnalysisQuery): Promise<AnalysisResult> {
    const url = `/v1/projects/${this.api.projectId}/analysis/query`;
    return (await this.api.call('POST', url, query)).json();
  }
}

function searchOf({ queries = [], charts = [], lastSeconds }: StreamRequest): URLSearchParams {
  const search = new URLSearchParams();
  for (const query of queries)
    search.append('query', typeof query === 'string' ? query : JSON.stringify(query));
  for (const chart of charts) search.append('chart_id', chart);
  if (lastSeconds !== undefined) search.append('last_seconds', String(lastSeconds));
  return search;
}

async function projectOf({ tenantId, projectId, postgres }: TestApi): Promise<TestProject> {
  const { rows } = await postgres.pool.query('select no, storage from projects where id = $1', [projectId]);
  return { tenantId, projectId, projectNo: rows[0].no, storage: rows[0].storage };
}

interface Pipeline {
  readonly worker: PipelineWorker;
  readonly projector: ReturnType<typeof createProjector>;
}

function pipelineOf({ postgres, clock }: TestApi, { clickhouse }: TestClickHouse): Pipeline {
  const observer = {
    stage: () => {},
    batch: () => {},
    group: () => {},
    batchFailed: () => {},
    groupFailed: () => {},
    spoolCorrupt: () => {},
    defect: () => {},
  };
  const deps = { postgres, spool: createColumnSpool(), clock, observer };
  const queue = new PostgresSegmentQueue(postgres);
  const limits = createWorkerCatalog();
  return {
    worker: createPipelineWorker({ ...deps, queue, rules: testRules(), limits, onCommitted: () => {} }),
    projector: createProjector({ ...deps, clickhouse }),
  };
}

/** A minimal client of server-sent events. */
export class EventClient {
  readonly #sent: ClientRequest;
  readonly events: ReceivedEvent[] = [];
  /** The text of a response that is not a stream. */
  body = '';
  lastEventId: number | undefined;
  /** Heartbeats received. */
  beats = 0;
  isClosed = false;
  #waiting: (() => void)[] = [];
  #read = 0;

  private constructor(
    sent: ClientRequest,
    readonly answer: IncomingMessage,
  ) {
    this.#sent = sent;
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => this.#take(text));
    answer.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
    answer.on('error', () => {});
  }

  static open(sent: ClientRequest): Promise<EventClient> {
    return new Promise((resolve, reject) => {
      sent.on('response', (answer) => resolve(new EventClient(sent, answer)));
      sent.on('error', reject);
      sent.end();
    });
  }

  get status(): number {
    return this.answer.statusCode ?? 0;
  }

  /** The next event; throws when the connection ends first. */
  async next(): Promise<ReceivedEvent> {
    for (;;) {
      const event = this.events[this.#read];
      if (event !== undefined) {
        this.#read += 1;
        return event;
      }
      if (this.isClosed) throw new Error('the stream has ended');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Returns the events since the last call, once a heartbeat has shown that there are no more. */
  async untilBeat(count: number): Promise<ReceivedEvent[]> {
    while (this.beats < count && !this.isClosed)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const unread = this.events.slice(this.#read);
    this.#read = this.events.length;
    return unread;
  }

  async ended(): Promise<void> {
    while (!this.isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    this.#sent.destroy();
  }

  #take(text: string): void {
    this.body += text;
    for (let end = this.body.indexOf('\n\n'); end >= 0; end = this.body.indexOf('\n\n')) {
      this.#dispatch(this.body.slice(0, end).split('\n'));
      this.body = this.body.slice(end + 2);
    }
    this.#wake();
  }

  #dispatch(lines: readonly string[]): void {
    const field = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const id = field('id') === undefined ? undefined : Number(field('id'));
    if (id !== undefined) this.lastEventId = id;
    const data = field('data');
    if (data === undefined) this.beats += 1;
    else this.events.push({ name: field('event') ?? 'message', id, data: JSON.parse(data) });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Returns the rows after replacing those that an event names. */
export function applied(
  held: AnalysisResult['rows'],
  { buckets, rows }: StreamBuckets,
): AnalysisResult['rows'] {
  const kept = held.filter(({ bucket }) => !buckets.includes(bucket));
  return [...kept, ...rows].sort((a, b) => (a.bucket ?? 0) - (b.bucket ?? 0));
}
