import type { AnalysisQuery } from '@tollgate/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../../testing/index.js';
import { applied, type EventClient, StreamFixture } from './stream.testing.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

let fixture: StreamFixture;
/** An hour that has passed, at its start. */
let hour: number;
let query: AnalysisQuery;

beforeEach(async () => {
  fixture = await StreamFixture.open();
  hour = Math.floor(fixture.nowS / HOUR_S) * HOUR_S - HOUR_S;
  query = {
    metrics: ['llm.tokens'],
    time_range: { from: hour - DAY_S, to: hour + HOUR_S },
    bucket_size: '1h',
    group_by: ['model'],
  };
});

afterEach(() => fixture.close());

async function isReady(client: EventClient): Promise<void> {
  expect(client.status, client.body).toBe(200);
  expect((await client.next()).name).toBe('ready');
}

describe('GET …/analysis/stream', () => {
  it('sends changed buckets, as the query returns them', async () => {
    await fixture.use(hour, hour - 5 * HOUR_S);
    const client = await fixture.follow({ queries: [query] });
    expect(client.answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
    });
    expect(await client.next()).toEqual({ name: 'ready', id: 1, data: {} });
    let held = (await fixture.ask(query)).rows;
    await fixture.use(hour + 1, hour + 2, hour - 3 * HOUR_S);
    await fixture.tick();
    const event = await client.next();
    expect(event).toMatchObject({
      name: 'buckets',
      id: 2,
      data: { query: 0, bucket_size: '1h', ...query.time_range, buckets: [hour - 3 * HOUR_S, hour] },
    });
    held = applied(held, event.data);
    expect(held).toEqual((await fixture.ask(query)).rows);
    expect(held).toHaveLength(3);
    await fixture.tick();
    await fixture.use(hour + 7);
    await fixture.tick();
    const next = await client.next();
    expect(next).toMatchObject({ id: 3, data: { buckets: [hour] } });
    expect(applied(held, next.data)).toEqual((await fixture.ask(query)).rows);
  });

  it('sends the changes of several queries, and the position with the last of them', async () => {
    const totals: AnalysisQuery = { ...query, bucket_size: 'none', group_by: [] };
    const top: AnalysisQuery = { ...query, group_by: ['subject_id'], limit: 1, bucket_size: '12h' };
    const elsewhere: AnalysisQuery = { ...query, time_range: { from: 0, to: HOUR_S } };
    await fixture.use(hour - 5, hour - 6);
    const client = await fixture.follow({ queries: [totals, elsewhere, top] });
    await isReady(client);
    await fixture.use(hour);
    await fixture.tick();
    const [first, second] = [await client.next(), await client.next()];
    expect(first).toMatchObject({ id: undefined, data: { query: 0, buckets: [null] } });
    expect(first.data.rows).toEqual((await fixture.ask(totals)).rows);
    // Which groups have rows of their own is known only from the whole range.
    expect(second).toMatchObject({ id: 2, data: { query: 2 } });
    expect(second.data.rows).toEqual((await fixture.ask(top)).rows);
    expect(second.data.buckets.length).toBeGreaterThan(1);
  });

  it('slides with a range that ends now, and sends the bucket that it cuts', async () => {
    const sliding: AnalysisQuery = {
      metrics: ['llm.tokens'],
      time_range: { last_seconds: HOUR_S },
      bucket_size: '15m',
    };
    const cut = fixture.nowS - HOUR_S + 1;
    await fixture.use(cut, cut + 120);
    const client = await fixture.follow({ queries: [sliding] });
    await isReady(client);
    const held = (await fixture.ask(sliding)).rows;
    fixture.api.clock.advanceMs(60_000);
    await fixture.use(fixture.nowS);
    await fixture.tick();
    const { data } = await client.next();
    const now = await fixture.ask(sliding);
    expect(data).toMatchObject({ from: now.from, to: now.to });
    expect(applied(held, data)).toEqual(now.rows);
  });

  it('resumes after the last received event, and starts over where too much was deleted', async () => {
    const client = await fixture.follow({ queries: [query] });
    await isReady(client);
    await fixture.use(hour);
    await fixture.tick();
    await client.next();
    client.leave();
    await client.ended();
    await fixture.use(hour - HOUR_S);
    const again = await fixture.follow({ queries: [query], lastEventId: client.lastEventId ?? 0 });
    expect(await again.next()).toEqual({ name: 'ready', id: 1, data: {} });
    await fixture.tick();
    expect(await again.next()).toMatchObject({ id: 2, data: { buckets: [hour - HOUR_S] } });
    // Two more, ten minutes apart: all earlier ones are deleted except the last.
    for (const _ of [1, 2]) {
      fixture.api.clock.advanceMs(600_000);
      await fixture.use(hour);
    }
    const late = await fixture.follow({ queries: [query], lastEventId: 1 });
    expect(await late.next()).toEqual({ name: 'reset', id: 4, data: { query: null } });
    const ahead = await fixture.follow({ queries: [query], lastEventId: 999 });
    expect(await ahead.next()).toEqual({ name: 'reset', id: 4, data: { query: null } });
    const enough = await fixture.follow({ queries: [query], lastEventId: 2 });
    expect(await enough.next()).toMatchObject({ name: 'ready', id: 2 });
  });

  it('asks once what many follow', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => fixture.follow({ queries: [query, query] })));
    for (const client of clients) await isReady(client);
    await fixture.use(hour);
    fixture.clickhouse.asked = 0;
    await fixture.tick();
    for (const client of clients) {
      expect((await client.next()).data.query).toBe(0);
      expect((await client.next()).data.query).toBe(1);
    }
    expect(fixture.clickhouse.asked).toBe(1);
    expect([...fixture.clickhouse.fetched].sort()).toEqual(['usage_events', 'usage_rollup']);
  });

  it('looks at nothing and asks nothing where nothing changed', async () => {
    const client = await fixture.follow({ queries: [query] });
    await isReady(client);
    fixture.clickhouse.asked = 0;
    await fixture.tick();
    await fixture.use(hour + 5 * DAY_S);
    await fixture.tick();
    expect(fixture.clickhouse.asked).toBe(0);
    expect(client.events).toHaveLength(1);
  });

  it('keeps a quiet connection alive, and its position up to date', async () => {
    const client = await fixture.follow({ queries: [query] });
    await isReady(client);
    await fixture.use(hour + 5 * DAY_S);
    await fixture.tick();
    fixture.api.clock.advanceMs(15_000);
    await fixture.tick();
    await waitFor(() => client.lastEventId === 1);
    expect(client.events).toHaveLength(1);
  });

  it('sends again the changes that a failing store held back', async () => {
    const client = await fixture.follow({ queries: [query] });
    await isReady(client);
    await fixture.use(hour);
    fixture.clickhouse.gate = () => Promise.reject(new Error('away'));
    await fixture.tick();
    fixture.clickhouse.gate = async () => {};
    fixture.api.clock.advanceMs(1_000);
    await fixture.use(hour - HOUR_S);
    await fixture.tick();
    expect(await client.next()).toMatchObject({ id: 2, data: { buckets: [hour - HOUR_S, hour] } });
  });
});

describe('a stream ends', () => {
  const revoke = async () => {
    const { rows } = await fixture.api.postgres.pool.query("select id from api_keys where name = 'key'");
    const revoked = `/admin/v1/tenants/${fixture.api.tenantId}/api-keys/${rows[0].id}`;
    expect((await fixture.api.call('DELETE', revoked)).status).toBe(204);
  };

  it('when its key is revoked while its changes are read, which are not sent', async () => {
    const key = await fixture.api.makeKey(fixture.api.tenantId, ['analytics:read']);
    const client = await fixture.follow({ queries: [query], key });
    await isReady(client);
    await fixture.use(hour);
    fixture.clickhouse.gate = revoke;
    await fixture.tick();
    await fixture.streams.tick();
    await client.ended();
    expect(client.events).toHaveLength(1);
  });

  it('when its key is revoked', async () => {
    const key = await fixture.api.makeKey(fixture.api.tenantId, ['analytics:read']);
    const client = await fixture.follow({ queries: [query], key });
    await isReady(client);
    await fixture.tick();
    expect(client.isClosed).toBe(false);
    await revoke();
    await fixture.use(hour);
    await fixture.tick();
    await client.ended();
    expect(client.events).toHaveLength(1);
  });

  it('when the service does, which waits for nobody', async () => {
    const client = await fixture.follow({ queries: [query] });
    await isReady(client);
    await fixture.api.app.close();
    await client.ended();
  });

  it('when its client has taken nothing for long; until then it gathers what changes', async () => {
    const written: string[] = [];
    const client = { isBehind: false, isAllowed: async () => true, isEnded: false };
    const [gone, scope] = [new AbortController(), fixture.project];
    await fixture.streams.open({ scope, queries: [query], since: undefined }, gone.signal, () => ({
      get isBehind() {
        return client.isBehind;
      },
      isAllowed: client.isAllowed,
      write: (text) => void written.push(text),
      end: () => {
        client.isEnded = true;
      },
    }));
    client.isBehind = true;
    await fixture.use(hour);
    await fixture.tick();
    await fixture.use(hour - HOUR_S);
    await fixture.tick();
    expect(written).toHaveLength(1);
    client.isBehind = false;
    await fixture.tick();
    expect(written).toHaveLength(2);
    expect(written[1]).toContain(`"buckets":[${hour - HOUR_S},${hour}]`);
    client.isBehind = true;
    await fixture.tick();
    fixture.api.clock.advanceMs(29_999);
    await fixture.tick();
    expect(client.isEnded).toBe(false);
    fixture.api.clock.advanceMs(1);
    await fixture.tick();
    expect(client.isEnded).toBe(true);
  });
});

describe('a stream is refused', () => {
  it('past ten of one key', async () => {
    const key = await fixture.api.makeKey(fixture.api.tenantId, ['analytics:read']);
    const clients: EventClient[] = [];
    for (let n = 0; n < 10; n++) clients.push(await fixture.follow({ queries: [query], key }));
    const refused = await fixture.follow({ queries: [query], key });
    await refused.ended();
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.body)).toEqual({
      code: 'concurrency_limit_reached',
      error: 'A key can have at most 10 streams open at once.',
    });
    expect(await fixture.metrics.metrics()).toContain('tollgate_analysis_streams 10');
    clients[0]?.leave();
    await waitFor(async () => (await fixture.metrics.metrics()).includes('tollgate_analysis_streams 9'));
    await isReady(await fixture.follow({ queries: [query], key }));
  });

  it.each([
    ['query', []],
    ['query', Array.from({ length: 17 }, () => ({ metrics: ['a'], time_range: { last_seconds: 60 } }))],
    [
      'query[1].metrics',
      [
        { metrics: ['a'], time_range: { last_seconds: 60 } },
        { metrics: [], time_range: {} },
      ],
    ],
    ['query[0].time_range.from', [{ metrics: ['a'], time_range: {} }]],
    ['query[0].timezone', [{ metrics: ['a'], time_range: { last_seconds: 60 }, timezone: 'Local' }]],
    ['query[0].unknown', [{ metrics: ['a'], time_range: { last_seconds: 60 }, unknown: 1 }]],
    ['query[0]', ['{']],
    ['query[0]', ['[]']],
    ['query[0].metrics[0]', ['{"metrics":["\\u0000"],"time_range":{"last_seconds":60}}']],
  ])('for a wrong %s', async (path, queries) => {
    const refused = await fixture.follow({ queries: queries as AnalysisQuery[] });
    await refused.ended();
    expect([refused.status, refused.body]).toEqual([400, expect.any(String)]);
    expect(JSON.parse(refused.body).details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it('for a Last-Event-ID that is none, and without the permission', async () => {
    const wrong = await fixture.follow({ queries: [query], lastEventId: '-1' });
    expect(wrong.status).toBe(400);
    const key = await fixture.api.makeKey(fixture.api.tenantId, ['usage:read']);
    expect((await fixture.follow({ queries: [query], key })).status).toBe(403);
  });
});
