import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Collector, startCollector } from '../packages/service/src/testing/collector.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { eventOf, ingestPath, SETTLE } from './support/accepting.js';
import { Connection } from './support/connections.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const PARENT = 'b7ad6b7169203331';
const INGEST_ROUTE = '/v1/projects/:project_id/extractor-rule-sets/:id/events/ingest';
const STATUS_ROUTE = '/v1/projects/:project_id/usage/ingest-status';
const SECRET = 'never-in-a-trace';
const PRINT_MODULES = `--import=${new URL('./support/print-modules.mjs', import.meta.url)}`;

let service: RunningService;
let project: SampleProject;
afterAll(() => service?.stop());

/** Starts a service whose processes and threads print each module that they load. */
async function start(env: Readonly<Record<string, string>>): Promise<void> {
  service = await startService({
    args: ['serve', '--workers', '2'],
    env: { ...env, NODE_OPTIONS: PRINT_MODULES },
  });
  project = await createSampleProject(service);
}

const traceId = (number: number) => String(number).padStart(32, '0');
const traceparent = (number: number, flags: '00' | '01') => `00-${traceId(number)}-${PARENT}-${flags}`;

/** Sends an event over a socket of its own, in the trace of that number. */
async function sendEvent(number: number, headers: Record<string, string>) {
  const connection = new Connection(service);
  const body = { source: 'test', ...eventOf(`event-${number}`, SECRET) };
  const { status } = await connection.send('POST', ingestPath(project), { key: project.key, body, headers });
  connection.close();
  expect(status).toBe(202);
}

async function waitUntilQueryable(events: number): Promise<void> {
  const { projectId, key } = project;
  await waitFor(async () => {
    const { body } = await call(service, 'GET', `/v1/projects/${projectId}/usage/events?limit=10`, { key });
    return body.events.length === events;
  }, SETTLE);
}

/** Returns those of the modules of the program that its processes and threads have loaded; `cli.js` is the first. */
function loadedModules(): string[] {
  const modules = ['cli.js', 'accepting-process.js', 'worker-thread.js', 'otlp.js'];
  return modules.filter((module) => service.output.includes(`/dist/bundle/${module}`));
}

describe('with a collector', () => {
  let collector: Collector;
  beforeAll(async () => {
    collector = await startCollector();
    // The spans that wait are sent at the stop only.
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '600000' });
  });
  afterAll(async () => {
    await service?.stop();
    await collector.close();
  });

  it('a service traces sampled requests, batches and groups, and sends the last spans when it stops', async () => {
    await sendEvent(1, { traceparent: traceparent(1, '01') });
    await sendEvent(2, { traceparent: traceparent(2, '00') });
    // A path that Node's server of the main process serves.
    const other = new Connection(service);
    await other.send('GET', `/v1/projects/${project.projectId}/usage/ingest-status?secret=${SECRET}`, {
      key: project.key,
      headers: { traceparent: traceparent(3, '01') },
    });
    other.close();
    await waitUntilQueryable(2);
    expect(collector.requests).toBe(0);
    expect(await service.terminate()).toBe(0);

    const spans = collector.spans();
    const ofTrace = (number: number) => spans.filter((span) => span.traceId === traceId(number));
    const [accepted] = ofTrace(1).filter(({ parentSpanId }) => parentSpanId === PARENT);
    expect(accepted).toMatchObject({
      name: `POST ${INGEST_ROUTE}`,
      attributes: { 'http.route': INGEST_ROUTE, 'http.response.status_code': 202 },
      process: { 'service.name': 'tollgate', 'tollgate.role': 'accepting' },
    });
    const [append, ...more] = ofTrace(1).filter(({ parentSpanId }) => parentSpanId === accepted?.spanId);
    expect([append?.name, more]).toEqual(['append to queue', []]);
    expect(ofTrace(2)).toEqual([]);
    expect(ofTrace(3)).toMatchObject([
      {
        name: `GET ${STATUS_ROUTE}`,
        parentSpanId: PARENT,
        process: { 'tollgate.role': 'api,worker,projector' },
      },
    ]);
    expectStages(spans, 'rate batch', ['claim', 'deduplicate', 'rate', 'spool', 'totals', 'commit']);
    expectStages(spans, 'project group', ['group', 'read', 'insert', 'delete', 'unlink']);
    expect(spans.filter(({ name }) => name.includes('/readyz'))).toEqual([]);
    for (const secret of [SECRET, project.key, project.projectId, project.tenantId])
      expect(collector.text()).not.toContain(secret);
    expect(loadedModules()).toContain('otlp.js');
  });
});

/** Expects a trace of that name which has these stages, and perhaps others. */
function expectStages(spans: ReturnType<Collector['spans']>, name: string, stages: readonly string[]): void {
  const found = spans
    .filter((span) => span.name === name && span.parentSpanId === undefined)
    .map((root) => spans.filter(({ parentSpanId }) => parentSpanId === root.spanId).map((span) => span.name));
  expect(found).toContainEqual(expect.arrayContaining([...stages]));
}

describe('without a collector', () => {
  beforeAll(() => start({}));

  it('a service loads nothing of the SDK', async () => {
    await sendEvent(1, { traceparent: traceparent(1, '01') });
    await waitUntilQueryable(1);
    expect(await service.terminate()).toBe(0);
    expect(loadedModules()).toEqual(['cli.js', 'accepting-process.js', 'worker-thread.js']);
  });
});
