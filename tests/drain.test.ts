import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postBytes, Wire } from '../packages/service/src/testing/both-ways.js';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { eventOf, ingestPath } from './support/accepting.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

/** Longer than any test waits: each drain ends with a second signal. */
const LONG_S = '300';
const CLOSES = /^connection: close\r$/im;
const KEEPS = /^connection: keep-alive\r$/im;

let postgres: TestPostgres;
let clickhouse: TestClickHouse;
beforeAll(async () => {
  [postgres, clickhouse] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
});
afterAll(() => Promise.all([clickhouse?.drop(), postgres?.drop()]));

let service: RunningService;
afterEach(async () => {
  if (!service.hasEnded) {
    // It ends a drain, and begins none.
    process.kill(service.pid, 'SIGINT');
    await hasEnded();
  }
  await service.stop();
});

const hasEnded = () => waitFor(() => service.hasEnded, { timeoutMs: 120_000 });

async function start(env: Record<string, string>, workers = '1'): Promise<void> {
  service = await startService({
    args: ['serve', '--workers', workers],
    env: {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
      ...env,
    },
    startsEmpty: true,
  });
}

/** Connections of clients, which record resets. */
class Clients {
  readonly #opened: Wire[] = [];

  async open(): Promise<Wire> {
    const wire = await Wire.open(service.port);
    this.#opened.push(wire);
    return wire;
  }

  get errors(): Error[] {
    return this.#opened.flatMap(({ error }) => error ?? []);
  }
}

/** Sends an event, and returns the status and the head of the response. */
async function ingest(wire: Wire, project: SampleProject, key: string) {
  const headers = { authorization: `Bearer ${project.key}`, 'content-type': 'application/json' };
  await wire.write(
    postBytes(ingestPath(project), headers, JSON.stringify({ source: 'test', ...eventOf(key) })),
  );
  const answer = await wire.answer();
  return [answer?.status, answer?.head];
}

async function me(wire: Wire, { key }: SampleProject) {
  await wire.write(`GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const answer = await wire.answer();
  return [answer?.status, answer?.head];
}

async function acceptedOf({ projectId, key }: SampleProject): Promise<number> {
  const { body } = await call(service, 'GET', `/v1/projects/${projectId}/usage/ingest-status`, { key });
  return body.accepted;
}

/** Sends SIGTERM, and waits until the service says that it is not ready. */
async function beginDrain(): Promise<void> {
  process.kill(service.pid, 'SIGTERM');
  await waitFor(async () => (await call(service, 'GET', '/readyz')).status === 503);
}

describe.each([
  ['on the express lane', '1', '1'],
  ['with the HTTP server of Node', '1', '0'],
  ['in accepting processes', '2', '1'],
])('a drain %s', (_where, workers, lane) => {
  it('serves requests, ends each connection after its response, and resets none', async () => {
    await start({ TOLLGATE_DRAIN_SECONDS: LONG_S, TOLLGATE_EXPRESS_LANE: lane }, workers);
    const project = await createSampleProject(service);
    const clients = new Clients();
    const [used, asked, idle] = [await clients.open(), await clients.open(), await clients.open()];
    expect(await ingest(used, project, 'used-1')).toEqual([202, expect.stringMatching(KEEPS)]);
    expect(await me(asked, project)).toEqual([200, expect.stringMatching(KEEPS)]);
    expect(await ingest(idle, project, 'idle')).toEqual([202, expect.stringMatching(KEEPS)]);
    await beginDrain();
    expect(await ingest(used, project, 'used-2')).toEqual([202, expect.stringMatching(CLOSES)]);
    expect(await me(asked, project)).toEqual([200, expect.stringMatching(CLOSES)]);
    const [fresh, freshlyAsked] = [await clients.open(), await clients.open()];
    expect(await ingest(fresh, project, 'fresh')).toEqual([202, expect.stringMatching(CLOSES)]);
    expect(await me(freshlyAsked, project)).toEqual([200, expect.stringMatching(CLOSES)]);
    for (const wire of [used, asked, fresh, freshlyAsked]) await wire.closed();
    expect(await acceptedOf(project)).toBe(4);
    // It sends the second signal.
    expect(await service.terminate()).toBe(0);
    await idle.closed();
    expect(clients.errors).toEqual([]);
  });
});

describe('streams and waiting reads', () => {
  it('go on during a drain, and streams end in order after it', async () => {
    await start({ TOLLGATE_DRAIN_SECONDS: LONG_S });
    const project = await createSampleProject(service);
    const { key } = project;
    const headers = { authorization: `Bearer ${key}` };
    const search = new URLSearchParams({
      query: JSON.stringify({
        metrics: ['llm.input_tokens'],
        time_range: { last_seconds: 3_600 },
        bucket_size: '1h',
      }),
    });
    const path = `/v1/projects/${project.projectId}`;
    const stream = await fetch(`${service.url}${path}/analysis/stream?${search}`, { headers });
    const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await events?.read())?.value).toContain('event: ready');
    const read = (id: string) => call(service, 'GET', `${path}/usage/events/${id}?wait_seconds=10`, { key });
    await beginDrain();
    const event = { source: 'test', ...eventOf('followed') };
    const accepted = await call(service, 'POST', ingestPath(project), { key, body: event });
    expect(await read(accepted.body.raw_event_id)).toMatchObject({ status: 200 });
    expect((await events?.read())?.value).toContain('event: buckets');
    expect(await service.terminate()).toBe(0);
    expect((await events?.read())?.done).toBe(true);
  });
});

describe('no drain', () => {
  it.each([
    ['at SIGINT', 'SIGINT', LONG_S],
    ['with 0 seconds', 'SIGTERM', '0'],
  ] as const)('happens %s', async (_when, signal, seconds) => {
    await start({ TOLLGATE_DRAIN_SECONDS: seconds, TOLLGATE_LOG_LEVEL: 'info' });
    process.kill(service.pid, signal);
    await hasEnded();
    expect(service.output).not.toContain('draining');
  });
});
