import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestIngest, type TestIngest } from '../../testing/ingest-api.js';

const DAY_S = 86_400;

let api: TestIngest;
beforeAll(async () => {
  api = await createTestIngest();
});
afterAll(() => api.close());

/** Everything that makes a single event, and so any batch that contains it, invalid. */
const INVALID: [string, object, string, string?][] = [
  ['no source', { source: undefined }, 'source'],
  ['an empty source', { source: '' }, 'source'],
  ['a long source', { source: 'x'.repeat(256) }, 'source'],
  ['a long key, in characters', { idempotency_key: '👩'.repeat(256) }, 'idempotency_key'],
  ['a key that is null', { idempotency_key: null }, 'idempotency_key'],
  ['NUL in a key', { idempotency_key: 'a\u0000b' }, 'idempotency_key'],
  ['a lone surrogate', { external_event_id: 'a\ud800' }, 'external_event_id'],
  ['an empty external id', { external_event_id: '' }, 'external_event_id'],
  ['a type without id', { subject_type: 'user' }, 'subject_id', 'subject_pair_incomplete'],
  ['an id without type', { subject_id: 'u1' }, 'subject_type', 'subject_pair_incomplete'],
  ['a malformed type', { subject_type: 'User', subject_id: 'u1' }, 'subject_type'],
  ['a long subject id', { subject_type: 'user', subject_id: 'x'.repeat(256) }, 'subject_id'],
  ['no time', { occurred_at: undefined }, 'occurred_at'],
  ['a time as text', { occurred_at: String(TEST_NOW_S) }, 'occurred_at'],
  ['half a second', { occurred_at: TEST_NOW_S + 0.5 }, 'occurred_at'],
  ['too old', { occurred_at: TEST_NOW_S - 3_651 * DAY_S }, 'occurred_at', 'occurred_at_out_of_range'],
  ['too far ahead', { occurred_at: TEST_NOW_S + 31 * DAY_S }, 'occurred_at', 'occurred_at_out_of_range'],
  ['milliseconds', { occurred_at: TEST_NOW_S * 1000 }, 'occurred_at', 'occurred_at_out_of_range'],
  ['before 1970', { occurred_at: -1 }, 'occurred_at', 'occurred_at_out_of_range'],
  ['no raw_json', { raw_json: undefined }, 'raw_json'],
  ['a list as raw_json', { raw_json: [] }, 'raw_json'],
  ['null as raw_json', { raw_json: null }, 'raw_json'],
  ['text as raw_json', { raw_json: '{}' }, 'raw_json'],
  ['an unknown field', { project_id: 'prj_1' }, 'project_id'],
  ['large metadata', { metadata: { text: 'é'.repeat(8_192) } }, 'metadata'],
  ['metadata that is a list', { metadata: [] }, 'metadata'],
  ['an unknown control', { 'x-usage-control': { lease: 'bl_1' } }, 'x-usage-control.lease'],
  ['an empty lease', { 'x-usage-control': { budget_lease_id: '' } }, 'x-usage-control.budget_lease_id'],
  ['NUL in a lease', { 'x-usage-control': { budget_lease_id: '\u0000' } }, 'x-usage-control.budget_lease_id'],
  ['unknown billing', { 'x-billing': { price: 1 } }, 'x-billing.price'],
  ['an item without metric', { 'x-billing': { items: [{ quantity: 1 }] } }, 'x-billing.items[0].metric'],
];

describe('an invalid event', () => {
  it.each(INVALID)(
    'is refused, alone and in a batch: %s',
    async (_, more, path, code = 'invalid_request') => {
      const single = await api.sendSingle({ ...api.event, ...more });
      expect([single.status, single.json().code], single.text).toEqual([400, code]);
      expect(single.json().details).toContainEqual({ path, message: expect.any(String) });
      expect(single.json().error).toContain(path);
      const batch = await api.sendBatch({ events: [api.item(), api.item(more)] });
      expect([batch.status, batch.json().code], batch.text).toEqual([400, code]);
      expect(batch.json().details[0].path).toBe(`events[1].${path}`);
      expect(batch.json().error).toContain(`events[1].${path}`);
      expect(await api.takeQueued()).toEqual([]);
    },
  );

  it('is refused in a batch when it lacks a key or a rule set', async () => {
    for (const field of ['idempotency_key', 'extractor_rule_set_id']) {
      const refused = await api.sendBatch({ events: [api.item(), api.item({ [field]: undefined })] });
      expect([refused.status, refused.json().details[0].path]).toEqual([400, `events[1].${field}`]);
    }
    const nul = await api.sendBatch({ events: [api.item({ extractor_rule_set_id: '\u0000' })] });
    expect(nul.json().details[0].path).toBe('events[0].extractor_rule_set_id');
  });

  it('names its time to the second', async () => {
    const now = Math.floor(api.clock.nowMs() / 1000);
    for (const [occurredAt, status] of [
      [now - 3_650 * DAY_S, 202],
      [now - 3_650 * DAY_S - 1, 400],
      [now + 30 * DAY_S, 202],
      [now + 30 * DAY_S + 1, 400],
    ]) {
      expect((await api.sendSingle({ ...api.event, occurred_at: occurredAt })).status).toBe(status);
    }
  });
});
