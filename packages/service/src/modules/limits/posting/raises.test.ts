import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../kernel/id.js';
import { PostingFixture } from './posting.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const DAY_S = 86_400;
const fixture = await PostingFixture.create();
afterAll(() => fixture.drop());
beforeEach(async () => {
  await fixture.reset();
  await fixture.publish('ulp_1', [{ key: 'daily', limit: '10', notifyAt: [50] }]);
  await fixture.route({ planId: 'ulp_1' });
});

const cost = (amount: string, fields: TestUsage = {}): TestUsage => ({ items: [{ amount }], ...fields });
/** Raises a limit of the route of a subject from now on. */
async function raise(
  subjectId: string,
  { key, amount, forS }: { readonly key: string; readonly amount: string; readonly forS: number },
): Promise<void> {
  const nowMs = fixture.clock.nowMs();
  await fixture.rows(
    `insert into limit_raises (tenant_id, project_id, id, route_id, limit_key, amount, from_ms, until_ms, reason, created_by)
    select tenant_id, project_id, $1, id, $2, $3, $4, $5, 'test', 'service' from subject_routes where id = $6`,
    [newId('lra', fixture.clock), key, amount, nowMs, nowMs + forS * 1_000, `ra_${subjectId}`],
  );
  await fixture.rows('update limit_revisions set revision = revision + 1');
}

/** The alerts since the last call: event, percentage and sequence, subject. */
let seen: string[] = [];
async function alerts(): Promise<string[]> {
  const all = (await fixture.alerts()).map((text) => text.replace(/ \d+ \d+ /, ' '));
  const known = [...seen];
  seen = all;
  return all.filter((text) => {
    const at = known.indexOf(text);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

describe('raises', () => {
  beforeEach(() => {
    seen = [];
  });

  it('lift the shares of an open window at once, and end by themselves', async () => {
    await fixture.post([cost('6')]);
    expect(await alerts()).toEqual(['usage_limit.threshold_reached 50#1 u1']);
    await raise('*', { key: 'daily', amount: '10', forS: 3_600 });
    await fixture.post([cost('3')]);
    expect(await alerts()).toEqual(['usage_limit.recovered 50#1 u1']);
    await fixture.post([cost('2')]);
    expect(await alerts()).toEqual(['usage_limit.threshold_reached 50#2 u1']);
    fixture.clock.advanceMs(3_600_000);
    await fixture.post([cost('0.5')]);
    expect(await alerts()).toEqual(['usage_limit.exceeded 100#1 u1']);
    expect(await fixture.windows()).toMatchObject([{ used: '11.5', limit: '10' }]);
  });

  it('end with an alert at the next usage, also if that changes nothing of a window that counts values', async () => {
    const rule = { currency: '', period: 'lifetime', limit: '2' } as const;
    await fixture.publish('ulp_2', [
      { key: 'models', measure: 'unique', of: 'model', ...rule },
      { key: 'greatest', measure: 'max', ...rule },
    ]);
    await fixture.route({ subjectId: 'u2', planId: 'ulp_2' });
    const call = { subject: 'u2', items: [{ quantity: '3' }] };
    for (const key of ['models', 'greatest']) await raise('u2', { key, amount: '2', forS: 60 });
    await fixture.post([{ ...call, dimensions: { model: 'a' } }]);
    await fixture.post([{ ...call, dimensions: { model: 'b' } }]);
    expect(await alerts()).toEqual([]);
    fixture.clock.advanceMs(60_000);
    await fixture.post([{ ...call, dimensions: { model: 'a' } }]);
    expect(await alerts()).toEqual(Array(2).fill('usage_limit.exceeded 100#1 u2'));
    for (const key of ['models', 'greatest']) await raise('u2', { key, amount: '2', forS: 60 });
    await fixture.post([{ ...call, items: [{ quantity: '1' }], dimensions: { model: 'b' } }]);
    expect(await alerts()).toEqual(Array(2).fill('usage_limit.recovered 100#1 u2'));
  });

  it('are in the alerts with their amounts, and add up', async () => {
    await raise('*', { key: 'daily', amount: '10', forS: 3_600 });
    await raise('*', { key: 'daily', amount: '0.5', forS: 60 });
    await raise('*', { key: 'other', amount: '100', forS: 3_600 });
    await fixture.post([cost('20.4')]);
    expect(await alerts()).toEqual(['usage_limit.threshold_reached 50#1 u1']);
    const [message] = await fixture.rows(`select payload::json -> 'data' as data from webhook_messages`);
    expect(message?.data).toMatchObject({ limit_amount: '20.5', raised_amount: '10.5', used_amount: '20.4' });
    fixture.clock.advanceMs(60_000);
    await fixture.post([cost('0.01')]);
    expect(await alerts()).toEqual(['usage_limit.exceeded 100#1 u1']);
  });

  it('of a * route lift the limit of each of its subjects, and of no other', async () => {
    await fixture.route({ subjectId: 'u2', planId: 'ulp_1' });
    await raise('*', { key: 'daily', amount: '10', forS: 3_600 });
    await fixture.post([cost('10'), cost('10', { subject: 'u2' }), cost('10', { subject: 'u3' })]);
    expect(await alerts()).toEqual([
      'usage_limit.exceeded 100#1 u2',
      'usage_limit.threshold_reached 50#1 u1',
      'usage_limit.threshold_reached 50#1 u2',
      'usage_limit.threshold_reached 50#1 u3',
    ]);
  });

  it('count for late usage in windows at whose end they were active, and in no others', async () => {
    await raise('*', { key: 'daily', amount: '10', forS: DAY_S });
    fixture.clock.advanceMs(2 * DAY_S * 1_000);
    await fixture.post([cost('9', { atS: NOW_S })]);
    expect(await alerts()).toEqual([]);
    await fixture.post([cost('9', { atS: NOW_S - DAY_S })]);
    expect(await alerts()).toEqual(['usage_limit.threshold_reached 50#1 u1']);
    await fixture.post([cost('9', { atS: NOW_S + DAY_S })]);
    expect(await alerts()).toEqual(['usage_limit.threshold_reached 50#1 u1']);
  });
});
