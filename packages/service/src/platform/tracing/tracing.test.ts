import { afterEach, describe, expect, test } from 'vitest';
import { type Collector, startCollector } from '../../testing/collector.js';
import { waitFor } from '../../testing/wait-for.js';
import { ExportLog } from './export-log.js';
import { openTracing, type Tracing } from './index.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const REQUEST = { method: 'GET', route: '/v1/things/:id', requestId: 'req_1' };

let collector: Collector;
let lines: object[] = [];
const log = { warn: (details: object) => void lines.push(details) };

/** Opens traces that are sent at once, by the variables of this process. */
async function open(variables: Readonly<Record<string, string>> = {}): Promise<Tracing> {
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '10',
    ...variables,
  });
  const tracing = await openTracing({ isOn: true, version: '1.2.3', role: 'api', log });
  if (tracing === undefined) throw new Error('traces are off');
  return tracing;
}

afterEach(async () => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  lines = [];
  await collector?.close();
});

describe('traces', () => {
  test('continue that of a client, and show the route, the status and the parts', async () => {
    collector = await startCollector();
    const tracing = await open({ OTEL_SERVICE_NAME: 'metering' });
    const fields = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const span = tracing.beginRequest({ ...REQUEST, fields });
    span?.begin('part').end();
    span?.end(503);
    await tracing.close();
    const spans = collector.spans();
    expect(spans.map(({ name }) => name)).toEqual(['part', 'GET /v1/things/:id']);
    const [part, whole] = spans;
    expect(whole).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, hasFailed: true });
    expect(whole?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/things/:id',
      'http.response.status_code': 503,
      'error.type': '503',
      'tollgate.request.id': 'req_1',
    });
    expect(whole?.process).toMatchObject({
      'service.name': 'metering',
      'service.version': '1.2.3',
      'tollgate.role': 'api',
    });
    expect(part).toMatchObject({ traceId: TRACE, parentSpanId: whole?.spanId });
    expect(span?.traceparent).toBe(`00-${TRACE}-${whole?.spanId}-01`);
  });

  test.each([
    ['none', undefined],
    ['one that is not valid', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['two, which Node joins', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
  ])('begin anew with %s', async (_what, traceparent) => {
    collector = await startCollector();
    const tracing = await open();
    tracing.beginRequest({ ...REQUEST, fields: { traceparent } })?.end(200);
    await tracing.close();
    const [span] = collector.spans();
    expect(span?.traceId).not.toBe(TRACE);
    expect(span).toMatchObject({ parentSpanId: undefined, hasFailed: false });
  });

  test('leave out what is not sampled, by the client or by the sampler', async () => {
    collector = await startCollector();
    const tracing = await open({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    const begin = (flags: string) =>
      tracing.beginRequest({ ...REQUEST, fields: { traceparent: `00-${TRACE}-${PARENT}-${flags}` } });
    expect(begin('00')).toBeUndefined();
    expect(tracing.beginRequest({ ...REQUEST, fields: {} })).toBeUndefined();
    tracing.record('rate batch', { durationMs: 1, stages: [], counts: {} });
    begin('01')?.end(200);
    await tracing.close();
    expect(collector.spans()).toHaveLength(1);
  });

  test('of work that has ended are a root and its stages, one after the other', async () => {
    collector = await startCollector();
    const tracing = await open();
    const stages = [
      { stage: 'claim', durationMs: 2 },
      { stage: 'rate', durationMs: 5 },
    ];
    tracing.record('rate batch', { durationMs: 10, stages, counts: { claimed: 3 }, errorType: 'TypeError' });
    await tracing.close();
    const spans = collector.spans();
    const byName = (name: string) => spans.find((span) => span.name === name);
    const [root, claim, rate] = ['rate batch', 'claim', 'rate'].map(byName);
    expect(root).toMatchObject({
      parentSpanId: undefined,
      hasFailed: true,
      attributes: { 'tollgate.claimed': 3, 'error.type': 'TypeError' },
    });
    expect([claim?.parentSpanId, rate?.parentSpanId]).toEqual([root?.spanId, root?.spanId]);
    expect(claim?.startNs).toBe(root?.startNs);
    expect(rate?.startNs).toBe(claim?.endNs);
    expect(Number((root?.endNs ?? 0n) - (root?.startNs ?? 0n))).toBe(10_000_000);
  });

  test('are lost with one line if the collector refuses them', async () => {
    collector = await startCollector(() => 400);
    const tracing = await open();
    for (const count of [1, 2]) {
      tracing.beginRequest({ ...REQUEST, fields: {} })?.end(200);
      await waitFor(() => collector.requests === count);
    }
    await tracing.close();
    await waitFor(() => lines.length > 0);
    expect(lines).toEqual([{ reason: expect.stringContaining('400'), unlogged: 0 }]);
  });

  test('do not keep the process from ending if the collector does not respond', async () => {
    collector = await startCollector(() => undefined);
    const tracing = await open();
    tracing.beginRequest({ ...REQUEST, fields: {} })?.end(200);
    await tracing.close();
    expect(collector.spans()).toHaveLength(1);
  });

  test('are off without a collector', async () => {
    expect(await openTracing({ isOn: false, version: '1', role: 'api', log })).toBeUndefined();
  });
});

test('failed exports are logged once a minute, with the number of the others', () => {
  let nowMs = 0;
  const exportLog = new ExportLog(log, () => nowMs);
  lines = [];
  for (const reason of ['a', 'b', 'c']) exportLog.error(reason);
  nowMs = 60_000;
  exportLog.warn('d');
  expect(lines).toEqual([
    { reason: 'a', unlogged: 0 },
    { reason: 'd', unlogged: 2 },
  ]);
});
