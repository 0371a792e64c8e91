import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostingFixture } from './posting.testing.js';
import type { TestRule } from './rule-values.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const DAY_S = 86_400;
const TODAY_S = Math.floor(NOW_S / DAY_S) * DAY_S;
const RULE: TestRule = { key: 'daily', limit: '10', notifyAt: [50, 80] };

let fixture: PostingFixture;
let ruleNo = 0;

beforeAll(async () => {
  fixture = await PostingFixture.create();
});
beforeEach(async () => {
  await fixture.reset();
  ruleNo = (await fixture.publish('ulp_1', [RULE]))[0] ?? 0;
  await fixture.route({ planId: 'ulp_1' });
});
afterAll(() => fixture.drop());

/** Posts a batch for each amount, and returns the alerts that these batches sent. */
async function use(amounts: readonly string[], usage: TestUsage = {}): Promise<string[]> {
  const before = await fixture.alerts();
  for (const amount of amounts) await fixture.post([{ ...usage, items: [{ amount }] }]);
  return (await fixture.alerts()).filter((alert) => !before.includes(alert));
}

const text = (type: string, alert: string, startS: number, subject: string) =>
  `usage_limit.${type} ${alert} ${ruleNo} ${startS} ${subject}`;
const reached = (alert: string, startS = TODAY_S, subject = 'u1') =>
  text(alert.startsWith('100#') ? 'exceeded' : 'threshold_reached', alert, startS, subject);
const recovered = (alert: string, startS = TODAY_S, subject = 'u1') =>
  text('recovered', alert, startS, subject);

describe('usage that falls', () => {
  it('ends the alerts of all percentages that it falls below, each with an event of its own', async () => {
    await use(['12']);
    expect(await use(['-2'])).toEqual([]);
    expect(await use(['-0.000000000000000001'])).toEqual([recovered('100#1')]);
    expect(await use(['-9'])).toEqual([recovered('50#1'), recovered('80#1')]);
    expect(await use(['-1'])).toEqual([]);
  });

  it('sends the alert again when it rises again, with the next sequence', async () => {
    await use(['5', '-1']);
    expect(await use(['1'])).toEqual([reached('50#2')]);
    expect(await use(['-1'])).toEqual([recovered('50#2')]);
    expect(await use(['9'])).toEqual([reached('100#1'), reached('50#3'), reached('80#1')].sort());
  });

  it('sends nothing for what a batch adds and takes back', async () => {
    await fixture.post([{ items: [{ amount: '12' }, { amount: '-9' }] }]);
    expect(await fixture.alerts()).toEqual([]);
  });

  it('ends alerts of a past window, and of each subject by itself', async () => {
    const yesterday = { atS: NOW_S - DAY_S };
    await use(['9']);
    await use(['9'], yesterday);
    await use(['9'], { subject: 'u2' });
    expect(await use(['-4'], yesterday)).toEqual([recovered('80#1', TODAY_S - DAY_S)]);
    expect(await use(['-5'], { subject: 'u2' })).toEqual([
      recovered('50#1', TODAY_S, 'u2'),
      recovered('80#1', TODAY_S, 'u2'),
    ]);
    expect(await use(['4'], yesterday)).toEqual([reached('80#2', TODAY_S - DAY_S)]);
  });

  it('ends alerts of a window that a newer one has replaced, all of them too', async () => {
    await use(['10']);
    await use(['1'], { atS: NOW_S + DAY_S });
    expect(await use(['-8'])).toEqual([recovered('100#1'), recovered('50#1'), recovered('80#1')]);
  });

  it('ends nothing in a window that it opens', async () => {
    expect(await use(['-3'])).toEqual([]);
    expect(await use(['-3'], { atS: NOW_S - DAY_S })).toEqual([]);
    expect(await use(['8'])).toEqual([reached('50#1')]);
  });

  it('falls below a limit of 0 when it is negative', async () => {
    await fixture.publish('ulp_1', [{ ...RULE, limit: '0', notifyAt: [] }]);
    fixture.clock.advanceMs(DAY_S * 1_000);
    const tomorrow = { atS: NOW_S + 2 * DAY_S };
    const startS = TODAY_S + 2 * DAY_S;
    expect(await use(['1', '-1'], tomorrow)).toEqual([reached('100#1', startS)]);
    expect(await use(['-1'], tomorrow)).toEqual([recovered('100#1', startS)]);
    expect(await use(['1'], tomorrow)).toEqual([reached('100#2', startS)]);
  });

  it('ends an alert only in the transaction that commits', async () => {
    await use(['5']);
    const die = () => Promise.reject(new Error('killed'));
    await expect(fixture.post([{ items: [{ amount: '-1' }] }], die)).rejects.toThrow('killed');
    expect(await fixture.alerts()).toEqual([reached('50#1')]);
    expect(await use(['-1'])).toEqual([recovered('50#1')]);
  });
});

describe('the event of a recovery', () => {
  it('has the limit as it is now, and a name that no rule can change', async () => {
    await fixture.publish('ulp_1', [{ ...RULE, webhookEvent: 'budget.alarm' }]);
    await fixture.post([{ items: [{ amount: '5' }] }]);
    await fixture.post([{ items: [{ amount: '-2' }] }]);
    const messages = await fixture.rows(
      `select type, about, payload::json -> 'data' as data from webhook_messages order by type`,
    );
    expect(messages).toMatchObject([
      { type: 'budget.alarm', data: { used_amount: '5', threshold_percent: 50, sequence: 1 } },
      {
        type: 'usage_limit.recovered',
        about: 'user u1',
        data: {
          limit_key: 'daily',
          window_id: `day:${TODAY_S}`,
          used_amount: '3',
          limit_amount: '10',
          exceeded: false,
          threshold_percent: 50,
          sequence: 1,
        },
      },
    ]);
  });
});

describe('a percentage that a rule lists later', () => {
  it('has no recovery before its first alert', async () => {
    await use(['7']);
    await fixture.publish('ulp_1', [{ ...RULE, notifyAt: [50, 60, 80] }]);
    expect(await use(['-3'])).toEqual([recovered('50#1')]);
    expect(await use(['2'])).toEqual([reached('50#2'), reached('60#1')]);
    expect(await use(['-0.5'])).toEqual([recovered('60#1')]);
  });

  it('sends an alert in an open window whose usage is below it', async () => {
    await fixture.publish('ulp_1', [{ ...RULE, notifyAt: [80] }]);
    await use(['2']);
    await fixture.publish('ulp_1', [{ ...RULE, notifyAt: [50, 80] }]);
    expect(await use(['1'])).toEqual([]);
    expect(await use(['2'])).toEqual([reached('50#1')]);
  });
});

describe('another limit of an open window', () => {
  async function direct(): Promise<(amount: string) => Promise<void>> {
    await fixture.route();
    ruleNo = await fixture.limit('ra_*', RULE);
    return async (amount) => {
      fixture.clock.advanceMs(1);
      await fixture.changeLimit('*', RULE.key, ruleNo, amount, [50, 80]);
    };
  }

  it('that is higher ends alerts with the next usage, whatever its sign, and only once', async () => {
    const change = await direct();
    await use(['10']);
    await change('15');
    expect(await fixture.alerts()).toHaveLength(3);
    expect(await use(['1'])).toEqual([recovered('100#1'), recovered('80#1')]);
    await change('20');
    expect(await use(['-0.5'])).toEqual([]);
    expect(await use(['-1'])).toEqual([recovered('50#1')]);
    expect(await use(['7'])).toEqual([reached('50#2'), reached('80#2')]);
  });

  it('that is higher ends nothing that the next usage has reached again', async () => {
    const change = await direct();
    await use(['9']);
    await change('11');
    expect(await use(['1'])).toEqual([]);
    expect(await use(['1'])).toEqual([reached('100#1')]);
  });

  it('reaches past windows that have not ended', async () => {
    const change = await direct();
    await use(['9']);
    await use(['1'], { atS: NOW_S + DAY_S });
    await change('20');
    expect(await use(['0.5'])).toEqual([recovered('50#1'), recovered('80#1')]);
  });

  it('of 0 sends no alert twice, even when the messages are deleted', async () => {
    const change = await direct();
    await use(['5']);
    await fixture.rows('truncate webhook_messages cascade');
    await change('0');
    expect(await use(['1'])).toEqual([reached('100#1'), reached('80#1')]);
    await change('100');
    expect(await use(['1'])).toEqual([recovered('100#1'), recovered('50#1'), recovered('80#1')]);
  });
});

describe('an alert that an earlier release sent', () => {
  it('is ended as long as its message is kept, and has the sequence 1', async () => {
    await use(['8']);
    await fixture.rows('truncate limit_alerts');
    await fixture.rows(`delete from webhook_messages where dedupe_key like '% 80 %'`);
    expect(await use(['-4'])).toEqual([recovered('50#1')]);
    expect(await use(['4'])).toEqual([reached('50#2'), reached('80#1')]);
  });

  it('is not sent again', async () => {
    await use(['5']);
    await fixture.rows('truncate limit_alerts');
    await fixture.rows('update current_windows set next_notices = array[5]');
    expect(await use(['1'])).toEqual([]);
    expect(await use(['-2'])).toEqual([recovered('50#1')]);
  });
});
