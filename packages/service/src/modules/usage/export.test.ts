import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { UsageEvent } from '@tollgate/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../platform/metrics/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { insertUsageRows, type TestClickHouse, usageRow, waitFor } from '../../testing/index.js';
import { type EventsFixture, FROM_S, openEventsFixture, textOf } from './events.testing.js';
import { ChangedClickHouse } from './export.testing.js';
import { registerExportRoutes } from './index.js';
import type { UsageEventRow } from './row.js';

const PAGE_EVENTS = 1_000;
/** A page of events with a dimension of this length is more than sockets buffer for a reader that pauses. */
const LONG_TEXT = 'x'.repeat(16_384);

let fixture: EventsFixture;
let list: TestApi;
let store: TestClickHouse;
let api: TestApi;
let metrics: Metrics;
let many: UsageEventRow[];
const clickhouse = new ChangedClickHouse(() => store.clickhouse);

beforeAll(async () => {
  fixture = await openEventsFixture();
  ({ api: list, store } = fixture);
  metrics = createMetrics();
  api = await createTestApi((app) =>
    registerExportRoutes(app, { clickhouse, history: everythingKept, metrics }),
  );
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  const of = { tenantId: api.tenantId, projectId: api.projectId };
  many = Array.from({ length: 5 * PAGE_EVENTS }, (_, n) =>
    usageRow({ ...of, occurredAt: FROM_S + Math.floor(n / 3), dimensions: new Map([['long', '']]) }),
  );
  await insertUsageRows(store.clickhouse, many);
  await insertUsageRows(
    store.clickhouse,
    Object.values(fixture.rows)
      .map((row) => ({ ...row, ...of, occurredAt: row.occurredAt + 100_000 }))
      .map(withOwnId),
  );
});

afterAll(async () => {
  await api.close();
  await fixture.close();
});

afterEach(() => clickhouse.reset());

/** An id begins with the time of its event. */
function withOwnId(row: UsageEventRow): UsageEventRow {
  const rawEventId = Buffer.from(row.rawEventId);
  rawEventId.writeUInt32BE(row.occurredAt);
  return { ...row, rawEventId };
}

const range = `from=${FROM_S}&to=${FROM_S + 50_000}`;
const mixed = `from=${FROM_S + 100_000}&to=${FROM_S + 200_000}`;

function open(query: string, key = api.serviceKey): Promise<IncomingMessage> {
  const { port } = api.app.server.address() as AddressInfo;
  const path = `/v1/projects/${api.projectId}/usage/events/export?${query}`;
  const headers = { authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, headers, agent: false });
    sent.on('response', resolve).on('error', reject).end();
  });
}

/** Makes queries from this number on wait until the returned function is called. */
function holdUpFrom(first: number): () => void {
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  clickhouse.gate = (query) => (query < first ? undefined : gate);
  return goOn;
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function events(query: string): Promise<UsageEvent[]> {
  const answer = await open(query);
  const text = await bodyOf(answer);
  expect(answer.statusCode, text).toBe(200);
  expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('GET …/usage/events/export', () => {
  it('returns the events of the list, oldest first, for any filter', async () => {
    const { tenantId, projectId } = api;
    const rows = Object.values(fixture.rows).map((row) => ({ ...row, tenantId, projectId }));
    expect(rows.length).toBe(5);
    for (const filter of [
      '',
      'status=processed',
      'status=failed',
      'subject_id=o%27brien',
      'metric=llm.calls',
      'source=batch',
      'external_event_id=ext-1',
      'subject_type=absent',
      'pricing_source=unpriced',
      'note=quantity_clamped',
      'pricing_source=unpriced&metric=llm.tokens',
    ]) {
      const listed = await list.call('GET', `${fixture.url}?limit=100&from=${FROM_S}&${filter}`);
      const shifted = listed
        .json()
        .events.map((event: UsageEvent) => ({ ...event, occurred_at: event.occurred_at + 100_000 }));
      const exported = await events(`${mixed}&${filter}`);
      const stripped = ({ raw_event_id, ...event }: UsageEvent) => event;
      expect(exported.map(stripped).sort(byTime)).toEqual(shifted.map(stripped).sort(byTime));
      const ids = exported.map((event) => event.raw_event_id);
      expect(ids).toEqual([...ids].sort());
    }
  });

  it('has the events with an unpriced charge item alone, where these are asked for', async () => {
    const [event, ...others] = await events(`${mixed}&pricing_source=unpriced`);
    expect(others).toEqual([]);
    expect(event?.charge_items.map(({ pricing_source }) => pricing_source)).toContain('unpriced');
  });

  it('goes on over many pages, each event once and in order, within the range', async () => {
    const ids = many.map(textOf).sort();
    expect((await events(range)).map((event) => event.raw_event_id)).toEqual(ids);
    const part = await events(`from=${FROM_S + 10}&to=${FROM_S + 20}`);
    expect(part).toHaveLength(30);
    expect(await events('from=0&to=10')).toEqual([]);
  });

  it('shows the last attempt of an event that was rated again, wherever a page ends', async () => {
    const at = FROM_S + 300_000;
    const of = { tenantId: api.tenantId, projectId: api.projectId, occurredAt: at };
    const rows = Array.from({ length: PAGE_EVENTS }, () => usageRow(of));
    await insertUsageRows(store.clickhouse, rows);
    await insertUsageRows(
      store.clickhouse,
      rows.map((row) => ({ ...row, attempt: 1, source: 'anew' })),
    );
    const exported = await events(`from=${at}&to=${at + 1}`);
    expect(exported.map(({ raw_event_id }) => raw_event_id)).toEqual(rows.map(textOf).sort());
    expect(new Set(exported.map(({ source }) => source))).toEqual(new Set(['anew']));
  });

  it('writes CSV: a line per charge item, exact numbers, no formulas', async () => {
    const at = FROM_S + 400_000;
    await insertUsageRows(store.clickhouse, [
      usageRow({
        tenantId: api.tenantId,
        projectId: api.projectId,
        occurredAt: at,
        source: '=cmd|"x"',
        subjectType: 'user',
        subjectId: '@me',
        dimensions: new Map([['model', '=1+1']]),
      }),
    ]);
    const hostile = await open(`from=${at}&to=${at + 1}&format=csv`);
    expect(hostile.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="usage-events.csv"',
    });
    const text = await bodyOf(hostile);
    expect(text).toContain(`,"'=cmd|""x""",`);
    expect(text).toContain(",user,'@me,");
    expect(text).toContain(',"{""model"":""=1+1""}",');
    const lines = (await bodyOf(await open(`${mixed}&format=csv`))).split('\r\n').slice(0, -1);
    const [header = '', ...rows] = lines;
    const columns = header.split(',');
    const found = await events(mixed);
    expect(rows).toHaveLength(found.reduce((sum, event) => sum + Math.max(1, event.charge_items.length), 0));
    const exact = rows.find((row) => row.includes('12345678901234567890.000000000000000001'));
    expect(exact).toMatch(
      /,1,,llm\.calls,,12345678901234567890\.000000000000000001,,0,0,,extractor,unpriced,/,
    );
    expect(columns.slice(-23, -21)).toEqual(['item', 'item.extractor_name']);
    const failed = rows.find((row) => row.includes(',failed,'));
    expect(failed).toMatch(/,dimension_missing,dimension model is missing,dimensions\[0\],{17}1,{6}$/);
    expect(exact).toContain(',"[{""code"":""quantity_clamped"",');
  });

  it('is refused without an end, with an end before its begin, and for what it does not know', async () => {
    for (const query of [
      `from=${FROM_S}`,
      `to=${FROM_S}`,
      'from=5&to=5',
      `${range}&format=xml`,
      `${range}&limit=5`,
    ]) {
      expect((await open(query)).statusCode, query).toBe(400);
    }
    const key = await api.makeKey(api.tenantId, ['analytics:read']);
    expect((await open(range, key)).statusCode).toBe(403);
  });
});

describe('an export', () => {
  it('reads on only as its client does', async () => {
    clickhouse.change = (event) => ({ ...event, dimensions: { long: LONG_TEXT } });
    const answer = await open(range);
    answer.pause();
    // The first page is more than the sockets buffer.
    await waitFor(() => clickhouse.asked >= 2);
    for (let n = 0; n < 100; n++) await turn();
    const asked = clickhouse.asked;
    expect(asked).toBe(2);
    let bytes = 0;
    for await (const part of answer) bytes += part.length;
    expect(bytes).toBeGreaterThan(many.length * LONG_TEXT.length);
    expect(clickhouse.asked).toBeGreaterThan(asked);
    expect(answer.complete).toBe(true);
  });

  it('reads few events at once that are large', async () => {
    const of = { tenantId: api.tenantId, projectId: api.projectId };
    const dimensions = new Map([['long', 'x'.repeat(1_500_000)]]);
    const at = FROM_S + 500_000;
    const rows = [0, 1, 2, 3, 4].map((n) => usageRow({ ...of, occurredAt: at + n, dimensions }));
    await insertUsageRows(store.clickhouse, rows);
    const exported = await events(`from=${at}&to=${at + 10}`);
    expect(exported.map(({ raw_event_id }) => raw_event_id)).toEqual(rows.map(textOf));
    // The ids, and two events, two and one.
    expect(clickhouse.asked).toBe(4);
  });

  it('breaks the connection when it fails halfway, and returns an error when it fails at once', async () => {
    clickhouse.gate = (query) => {
      if (query === 5) throw new Error('away');
    };
    const answer = await open(range);
    expect(answer.statusCode).toBe(200);
    await expect(bodyOf(answer)).rejects.toThrow();
    expect(answer.complete).toBe(false);
    clickhouse.reset();
    clickhouse.gate = () => {
      throw new Error('away');
    };
    expect((await open(range)).statusCode).toBe(500);
  });

  it('breaks the connection when its key is revoked', async () => {
    const goOn = holdUpFrom(4);
    const key = await api.makeKey(api.tenantId, ['usage:read']);
    const { key_id: keyId } = (await api.call('GET', '/v1/me', undefined, key)).json();
    const answer = await open(range, key);
    await waitFor(() => clickhouse.asked === 4);
    const revoked = `/admin/v1/tenants/${api.tenantId}/api-keys/${keyId}`;
    expect((await api.call('DELETE', revoked)).status).toBe(204);
    goOn();
    await expect(bodyOf(answer)).rejects.toThrow();
    expect(answer.complete).toBe(false);
    expect(clickhouse.asked).toBe(4);
  });

  it('stops asking when its client leaves', async () => {
    const goOn = holdUpFrom(4);
    const answer = await open(range);
    await waitFor(() => clickhouse.asked === 4);
    answer.destroy();
    await waitFor(() => clickhouse.signals.at(-1)?.aborted === true);
    goOn();
    for (let n = 0; n < 100; n++) await turn();
    expect(clickhouse.asked).toBe(4);
    await waitFor(async () => (await metrics.metrics()).includes('tollgate_usage_exports 0'));
  });

  it('is one of two that a key may have', async () => {
    const goOn = holdUpFrom(1);
    const key = await api.makeKey(api.tenantId, ['usage:read']);
    const underWay = [open(range, key), open(range, key)];
    await waitFor(() => clickhouse.asked === 2);
    const refused = await open(range, key);
    expect(refused.statusCode).toBe(429);
    expect(JSON.parse(await bodyOf(refused)).code).toBe('concurrency_limit_reached');
    goOn();
    for (const answer of await Promise.all(underWay)) await bodyOf(answer);
    await waitFor(async () => (await metrics.metrics()).includes('tollgate_usage_exports 0'));
    expect((await open(range, key)).statusCode).toBe(200);
  });
});

function byTime(a: Omit<UsageEvent, 'raw_event_id'>, b: Omit<UsageEvent, 'raw_event_id'>): number {
  return JSON.stringify([a.occurred_at, a]) < JSON.stringify([b.occurred_at, b]) ? -1 : 1;
}
