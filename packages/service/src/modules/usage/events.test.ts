import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import type { TestApi } from '../../testing/api.js';
import { failedRow, idOf, insertUsageRows, type TestClickHouse, usageRow } from '../../testing/index.js';
import {
  type EventsFixture,
  FROM_S,
  LEDGER_TRANSACTION_ID,
  NOTE,
  openEventsFixture,
  textOf,
} from './events.testing.js';

let fixture: EventsFixture;
let api: TestApi;
let store: TestClickHouse;
let url: string;
let rows: EventsFixture['rows'];

beforeAll(async () => {
  fixture = await openEventsFixture();
  ({ api, store, url, rows } = fixture);
});

afterAll(() => fixture.close());

const newestFirst = () => Object.values(rows).map(textOf).sort().reverse();

async function list(query = ''): Promise<string[]> {
  const answer = await api.call('GET', `${url}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json().events.map((event: { raw_event_id: string }) => event.raw_event_id);
}

describe('GET …/usage/events', () => {
  it('lists the last attempt of every event of the project, newest first', async () => {
    expect(await list()).toEqual(newestFirst());
  });

  it('shows every field', async () => {
    const answer = await api.call('GET', `${url}?external_event_id=ext-1`);
    expect(answer.json()).toEqual({
      events: [
        {
          raw_event_id: textOf(rows.rich),
          revision: 1,
          status: 'processed',
          source: 'batch',
          external_event_id: 'ext-1',
          idempotency_key: 'key-1',
          subject_type: 'user',
          subject_id: "o'brien",
          account_id: 'acct_1',
          occurred_at: FROM_S + 10,
          received_at: FROM_S + 10,
          processed_at: FROM_S + 10,
          dimensions: JSON.parse('{"model":"large","__proto__":"x"}'),
          charge_items: [
            {
              extractor_name: 'prompt',
              metric: 'llm.tokens',
              unit: 'token',
              quantity: '10',
              unit_price: '0.001',
              amount: '0.01',
              discount: '0',
              currency: 'USD',
              source: 'extractor',
              pricing_source: 'extractor',
              rule_set_id: null,
              rule_set_version: null,
              rule_name: null,
              cumulative: null,
              cost: null,
              ledger_transaction_id: LEDGER_TRANSACTION_ID,
            },
            {
              extractor_name: null,
              metric: 'llm.calls',
              unit: null,
              quantity: '12345678901234567890.000000000000000001',
              unit_price: null,
              amount: '0',
              discount: '0',
              currency: null,
              source: 'extractor',
              pricing_source: 'unpriced',
              rule_set_id: null,
              rule_set_version: null,
              rule_name: null,
              cumulative: null,
              cost: null,
              ledger_transaction_id: null,
            },
          ],
          posting: 'posted',
          extractor_rule_set_id: 'ers_1',
          extractor_version: 1,
          budget_lease_id: 'bl_1',
          lease_status: 'applied',
          failure: null,
          notes: [NOTE],
        },
      ],
      next_cursor: null,
    });
  });

  it('says of a failed event why', async () => {
    const [event] = (await api.call('GET', `${url}?status=failed`)).json().events;
    expect(event).toMatchObject({
      status: 'failed',
      posting: null,
      extractor_version: null,
      charge_items: [],
      subject_type: null,
      failure: { code: 'dimension_missing', message: 'dimension model is missing', path: 'dimensions[0]' },
    });
  });

  it.each<[string, (keyof typeof rows)[]]>([
    [`from=${FROM_S + 10}&to=${FROM_S + 20}`, ['rich']],
    [`from=${FROM_S + 31}`, []],
    [`to=${FROM_S}`, []],
    ['to=253402300799', ['plain', 'rich', 'failed', 'mended', 'tied']],
    ['status=failed', ['failed']],
    ['status=processed', ['plain', 'rich', 'mended', 'tied']],
    ['subject_type=user', ['rich']],
    ["subject_id=o'brien", ['rich']],
    ['subject_type=team', []],
    ['metric=llm.calls', ['rich']],
    ['metric=llm.tokens', ['plain', 'rich', 'mended', 'tied']],
    ['pricing_source=unpriced', ['rich']],
    ['pricing_source=extractor', ['plain', 'rich', 'mended', 'tied']],
    ['pricing_source=hint', []],
    ['pricing_source=unpriced&metric=llm.calls', ['rich']],
    ['pricing_source=unpriced&metric=llm.tokens', []],
    ['pricing_source=unpriced&currency=USD', []],
    [
      'pricing_source=extractor&currency=USD&metric=llm.tokens&metric=llm.calls',
      ['plain', 'rich', 'mended', 'tied'],
    ],
    ['pricing_source=unpriced&status=failed', []],
    ['metric=llm.calls&metric=llm.absent', ['rich']],
    ['metric=llm.calls&metric=llm.tokens', ['plain', 'rich', 'mended', 'tied']],
    ['currency=USD', ['plain', 'rich', 'mended', 'tied']],
    ['currency=EUR', []],
    // The rich event has items of both kinds; the calls have no currency.
    ['metric=llm.calls&currency=USD', []],
    ['metric=llm.tokens&currency=USD&subject_type=user', ['rich']],
    ['filters={"model":{"in":["large","small"]}}', ['rich']],
    ['filters={"model":{"not_in":["large"]}}', ['plain', 'failed', 'mended', 'tied']],
    ['filters={"model":{"exists":true}}', ['rich']],
    ['filters={"model":{"exists":false}}&status=processed', ['plain', 'mended', 'tied']],
    ['filters={"__proto__":{"in":["x"]}}', ['rich']],
    ['filters={"__proto__":{"exists":false},"model":{"in":["large"]}}', []],
    ['filters={"toString":{"exists":true}}', []],
    ['filters={"subject_id":{"in":["o\'brien"]},"subject_type":{"exists":true}}', ['rich']],
    ['filters={"subject_id":{"exists":false},"model":{"in":["large"]}}', []],
    ['filters={"@subject_id":{"in":["o\'brien"]},"@subject_type":{"exists":true}}', ['rich']],
    ['filters={"@account_id":{"in":["acct_1"]}}', ['rich']],
    ['filters={"@account_id":{"exists":false}}', ['plain', 'failed', 'mended', 'tied']],
    ['filters={"@pricing_source":{"in":["unpriced"]}}', ['rich']],
    ['filters={"@pricing_source":{"not_in":["unpriced"]}}', ['plain', 'rich', 'mended', 'tied']],
    ['filters={"@pricing_source":{"in":["no such source"]}}', []],
    ['filters={"@pricing_source":{"exists":false}}', []],
    // One charge item meets all conditions on charge items.
    ['filters={"@pricing_source":{"in":["unpriced"]}}&metric=llm.tokens', []],
    ['filters={"@pricing_source":{"in":["unpriced"]}}&metric=llm.calls', ['rich']],
    ['filters={"@pricing_source":{"not_in":["extractor"]}}&pricing_source=extractor', []],
    ['filters={}&source=batch', ['rich']],
    ['source=batch', ['rich']],
    ["source=';DROP TABLE usage_events;--", []],
    ['failure_code=dimension_missing', ['failed']],
    ['failure_code=dimension_missing&status=processed', []],
    ['extractor_rule_set_id=ers_absent', []],
    ['external_event_id=ext-1&status=failed', []],
    ['note=any', ['rich']],
    ['note=quantity_clamped', ['rich']],
    ['note=quantity_kept', []],
    ['note=any&status=failed', []],
    [`ledger_transaction_id=${LEDGER_TRANSACTION_ID}`, ['rich']],
    [`ledger_transaction_id=${LEDGER_TRANSACTION_ID}&status=failed`, []],
    [`ledger_transaction_id=${newId('led', new ManualClock(FROM_S * 1000 + 10_002))}`, []],
    ['ledger_transaction_id=led_1', []],
  ])('filters by %s', async (query, names) => {
    const expected = newestFirst().filter((id) => names.some((name) => textOf(rows[name]) === id));
    expect(await list(`?${encodeURI(query).replaceAll("'", '%27')}`)).toEqual(expected);
  });

  it.each<[string, object]>([
    ['', { event_count: 1, item_count: 1, metrics: [{ metric: 'llm.calls', item_count: 1 }] }],
    ['&limit=1&source=batch', { event_count: 1 }],
    ['&metric=llm.tokens', { event_count: 0, item_count: 0, metrics: [] }],
    ['&status=failed', { event_count: 0 }],
    ['&ledger_transaction_id=led_1', { event_count: 0 }],
    [`&to=${FROM_S + 10}`, { event_count: 0 }],
  ])('counts what has no price with count=unpriced%s', async (query, unpriced) => {
    expect((await api.call('GET', `${url}?count=unpriced${query}`)).json()).toMatchObject({ unpriced });
  });

  it.each([1, 2, 3, 100])('pages by %i without a gap or a repetition', async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer = await api.call('GET', `${url}?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      const page: { events: { raw_event_id: string }[]; next_cursor: string | null } = answer.json();
      expect(page.events.length).toBeLessThanOrEqual(limit);
      seen.push(...page.events.map((event) => event.raw_event_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(newestFirst());
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'status=received',
    'pricing_source=free',
    'count=all',
    'from=-1',
    'cursor=',
    'cursor=nonsense',
    'unknown=1',
    'metric=',
    'currency=',
    'filters=',
    'filters={',
    'filters=[]',
    `filters=${JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`d${i}`, { exists: true }])))}`,
    `filters={"model":{"in":["${'x'.repeat(4_096)}"]}}`,
  ])('refuses %s', async (query) => {
    const answer = await api.call('GET', `${url}?${encodeURI(query)}`);
    expect(answer.status).toBe(400);
    expect(answer.json().details[0].path.replace('[0]', '')).toBe(query.split('=')[0]);
  });

  it.each([
    ['{"model":{}}', 'filters.model', 'must have exactly one of in, not_in and exists'],
    [
      '{"model":{"in":["a"],"exists":true}}',
      'filters.model',
      'must have exactly one of in, not_in and exists',
    ],
    ['{"model":{"in":[]}}', 'filters.model.in', 'expected at least 1 entry'],
    ['{"model":{"is":1}}', 'filters.model.is', 'unknown field (did you mean in?)'],
    [
      '{"@model":{"in":["a"]}}',
      'filters["@model"]',
      'must be a dimension or one of @account_id, @pricing_source, @subject_type, @subject_id',
    ],
  ])('refuses filters %s and says where', async (filters, path, message) => {
    const answer = await api.call('GET', `${url}?filters=${encodeURIComponent(filters)}`);
    expect(answer.status).toBe(400);
    expect(answer.json().details).toEqual([{ path, message }]);
  });

  it('refuses a cursor of other filters, and of another project', async () => {
    const { next_cursor: cursor } = (await api.call('GET', `${url}?limit=1`)).json();
    expect((await api.call('GET', `${url}?limit=1&cursor=${cursor}&status=failed`)).status).toBe(400);
    const other = await api.makeProject(api.tenantId);
    const foreign = await api.call('GET', `/v1/projects/${other}/usage/events?cursor=${cursor}`);
    expect(foreign.status).toBe(400);
  });

  it('gives up a page that superseded rows keep from filling, and goes on from there', async () => {
    const projectId = await api.makeProject(api.tenantId);
    const of = { tenantId: api.tenantId, projectId };
    const ids = Array.from({ length: 800 }, (_, i) => usageRow({ ...of, occurredAt: FROM_S + i }));
    const oldest = failedRow({ ...of, occurredAt: FROM_S - 1 });
    await store.clickhouse.command('SYSTEM STOP MERGES usage_events');
    await insertUsageRows(
      store.clickhouse,
      ids.map((row) => failedRow({ ...of, id: idOf(row), occurredAt: row.occurredAt })),
    );
    await insertUsageRows(store.clickhouse, [...ids.map((row) => ({ ...row, attempt: 1 })), oldest]);
    const failed = `/v1/projects/${projectId}/usage/events?status=failed&limit=1`;
    const first = (await api.call('GET', failed)).json();
    const found = [...first.events];
    for (let cursor = first.next_cursor; cursor !== null; ) {
      const page = (await api.call('GET', `${failed}&cursor=${cursor}`)).json();
      found.push(...page.events);
      cursor = page.next_cursor;
    }
    await store.clickhouse.command('SYSTEM START MERGES usage_events');
    expect(first).toMatchObject({ events: [], next_cursor: expect.any(String) });
    expect(found.map((event) => event.raw_event_id)).toEqual([textOf(oldest)]);
  });
});
