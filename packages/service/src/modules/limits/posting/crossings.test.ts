import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PostingFixture } from './posting.testing.js';
import type { TestRule } from './rule-values.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const DAY_S = 86_400;
const TODAY_S = Math.floor(NOW_S / DAY_S) * DAY_S;
const RULE: TestRule = { key: 'daily', limit: '10', notifyAt: [50, 80] };

const cost = (amount: string, atS = NOW_S): TestUsage => ({ atS, items: [{ amount }] });

describe('crossing a limit', () => {
  let fixture: PostingFixture;
  let ruleNo: number | undefined;

  beforeEach(async () => {
    fixture = await PostingFixture.create();
    [ruleNo] = await fixture.publish('ulp_1', [RULE]);
    await fixture.route({ planId: 'ulp_1' });
  });

  afterEach(() => fixture.drop());

  const sent = (...percents: number[]) =>
    percents.map((percent) => `limit ${ruleNo} ${TODAY_S} ${percent} user u1`).sort();

  it('reports each percentage once, in the transaction that reaches it', async () => {
    await fixture.post([cost('4.999999999999999999')]);
    expect(await fixture.crossings()).toEqual([]);
    await fixture.post([cost('0.000000000000000001')]);
    expect(await fixture.crossings()).toEqual(sent(50));
    await fixture.post([cost('1')]);
    expect(await fixture.crossings()).toEqual(sent(50));
    await fixture.post([cost('1'), cost('9')]);
    expect(await fixture.crossings()).toEqual(sent(50, 80, 100));
    await fixture.post([cost('100')]);
    expect(await fixture.crossings()).toEqual(sent(50, 80, 100));
  });

  it('reports the status of the limit', async () => {
    await fixture.lease({ amount: '3', ruleNos: [ruleNo ?? 0] });
    await fixture.post([cost('12')]);
    const messages = await fixture.rows(
      `select type, payload::json as payload from webhook_messages order by payload::json -> 'data' ->> 'threshold_percent'`,
    );
    expect(messages.map(({ type }) => type)).toEqual([
      'usage_limit.exceeded',
      'usage_limit.threshold_reached',
      'usage_limit.threshold_reached',
    ]);
    expect(messages[0]?.payload).toEqual({
      type: 'usage_limit.exceeded',
      timestamp: new Date(NOW_S * 1_000).toISOString(),
      data: {
        id: `ulpr_${ruleNo}_1`,
        limit_key: 'daily',
        plan_id: 'ulp_1',
        rule_account_id: 'ra_*',
        account_id: expect.stringMatching(/^acct_/),
        level: 0,
        account_external_id: null,
        subject_type: 'user',
        subject_id: 'u1',
        currency: 'USD',
        metric_scope: '*',
        selector_type: 'all',
        selector_value: '',
        measure: 'amount',
        period: 'day',
        window_id: `day:${TODAY_S}`,
        next_reset_at: TODAY_S + DAY_S,
        used_amount: '12',
        reserved_amount: '3',
        limit_amount: '10',
        remaining_amount: '-2',
        exceeded: true,
        action: 'block',
        threshold_percent: 100,
        sequence: 1,
      },
    });
  });

  it('names the event as the rule does', async () => {
    await fixture.publish('ulp_1', [{ ...RULE, notifyAt: [50], webhookEvent: 'budget.alarm' }]);
    await fixture.post([cost('5')]);
    expect(await fixture.rows('select type, about from webhook_messages')).toEqual([
      { type: 'budget.alarm', about: 'user u1' },
    ]);
  });

  it('reports nothing for a batch that fails, and once when the batch is repeated', async () => {
    const die = () => Promise.reject(new Error('killed'));
    await expect(fixture.post([cost('9')], die)).rejects.toThrow('killed');
    expect(await fixture.crossings()).toEqual([]);
    expect(await fixture.windows()).toEqual([]);
    expect(await fixture.wallets()).toEqual([]);
    await fixture.post([cost('9')]);
    expect(await fixture.crossings()).toEqual(sent(50, 80));
  });

  it('reports each window and subject by itself, a past one too', async () => {
    await fixture.post([
      cost('5'),
      cost('5', NOW_S - DAY_S),
      { ...cost('5'), subject: 'u2' },
      cost('4', NOW_S + DAY_S),
    ]);
    expect(await fixture.crossings()).toEqual(
      [
        ...sent(50),
        `limit ${ruleNo} ${TODAY_S - DAY_S} 50 user u1`,
        `limit ${ruleNo} ${TODAY_S} 50 user u2`,
      ].sort(),
    );
  });

  it('is sent once whatever becomes of the limit meanwhile', async () => {
    await fixture.post([cost('9')]);
    // The fields of the window are set by hand, so that only the outbox can know which alerts were sent.
    await fixture.rows('update current_windows set limit_amounts = array[9], next_notices = array[4.5]');
    await fixture.post([cost('1')]);
    expect(await fixture.crossings()).toEqual(sent(50, 80, 100));
  });
});
