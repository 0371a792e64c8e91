import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostingFixture } from './posting.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const HOUR_S = 3_600;

let fixture: PostingFixture;

beforeAll(async () => {
  fixture = await PostingFixture.create();
});
afterAll(() => fixture.drop());

/** Usage of one token for 1 USD, some hours from now. */
const at = (hours: number, fields: TestUsage = {}): TestUsage => ({ atS: NOW_S + hours * HOUR_S, ...fields });

/** Returns the windows: when each has begun, in hours from now, and its usage. */
async function windows(): Promise<string[]> {
  const found = await fixture.windows();
  return found.map(({ window_start, used }) => `${(Number(window_start) - NOW_S) / HOUR_S}: ${used}`);
}

/** Returns the ends of the windows, in hours from now. */
async function ends(): Promise<number[]> {
  const found = await fixture.rows(
    `select window_end from limit_windows order by subject_id, rule_no, window_start`,
  );
  return found.map(({ window_end }) => (Number(window_end) - NOW_S) / HOUR_S);
}

describe('windows that open with the first usage', () => {
  beforeEach(async () => {
    await fixture.reset();
    await fixture.publish('ulp_1', [{ key: 'spend', limit: '3', period: 'first_use:5h' }]);
    await fixture.route({ planId: 'ulp_1' });
  });

  it('open after the last one has ended, and not before', async () => {
    await fixture.post([at(0)]);
    await fixture.post([at(5 - 1 / HOUR_S)]);
    expect(await windows()).toEqual(['0: 2']);
    await fixture.post([at(7)]);
    await fixture.post([at(11)]);
    expect(await windows()).toEqual(['0: 2', '7: 2']);
  });

  it('open several times in one batch, in ascending time', async () => {
    await fixture.post([at(12), at(0), at(6), at(1), at(11)]);
    expect(await windows()).toEqual(['0: 2', '6: 1', '11: 2']);
  });

  it('are neither moved nor entered by late usage, which counts in the past window that contains it', async () => {
    await fixture.post([at(-20)]);
    await fixture.post([at(-10)]);
    await fixture.post([at(0)]);
    await fixture.post([at(-1), at(-5), at(-7), at(-16), at(-21)]);
    expect(await windows()).toEqual(['-20: 2', '-10: 2', '0: 1']);
  });

  it('are not opened by charge items that count nothing, nor by usage that is taken back', async () => {
    await fixture.post([at(0, { items: [{ amount: '0' }] }), at(1, { isReversal: true })]);
    expect(await windows()).toEqual([]);
    await fixture.post([at(2)]);
    await fixture.post([at(2, { isReversal: true })]);
    expect(await windows()).toEqual(['2: 0']);
    await fixture.post([at(6), at(7)]);
    expect(await windows()).toEqual(['2: 1', '7: 1']);
  });

  it('stay open where the usage of a batch adds up to nothing', async () => {
    await fixture.post([at(0), at(1, { items: [{ amount: '-1' }] })]);
    await fixture.post([at(4)]);
    expect(await windows()).toEqual(['0: 1']);
  });

  it('open for present usage although one begins in the future, and end where that begins', async () => {
    await fixture.post([at(7)]);
    await fixture.post([at(0), at(1)]);
    await fixture.post([at(6), at(8)]);
    expect(await windows()).toEqual(['0: 2', '6: 1', '7: 2']);
    expect(await ends()).toEqual([5, 7, 12]);
    await fixture.post([at(-1), at(5.5, { isReversal: true }), at(2, { isReversal: true })]);
    expect(await windows()).toEqual(['0: 1', '6: 1', '7: 2']);
  });

  it('open before several that begin in the future', async () => {
    await fixture.post([at(4)]);
    await fixture.post([at(12)]);
    await fixture.post([at(2), at(10), at(1)]);
    expect(await windows()).toEqual(['1: 2', '4: 1', '10: 1', '12: 1']);
    expect(await ends()).toEqual([4, 9, 12, 17]);
    fixture.clock.advanceMs(5 * HOUR_S * 1_000);
    await fixture.post([at(3), at(5), at(0.5), at(9.5)]);
    expect(await windows()).toEqual(['1: 3', '4: 2', '9.5: 1', '10: 1', '12: 1']);
  });

  it('are separate for each subject, and alerted by themselves', async () => {
    await fixture.post([at(0), at(1, { subject: 'u2' }), at(2), at(3), at(5), at(6), at(7)]);
    expect(await windows()).toEqual(['0: 3', '5: 3', '1: 1']);
    const alerts = await fixture.rows(
      `select payload::json -> 'data' as data from webhook_messages order by 1::text`,
    );
    expect(alerts.map(({ data }) => data)).toMatchObject([
      { window_id: `first_use:5h:${NOW_S}`, next_reset_at: NOW_S + 5 * HOUR_S, used_amount: '3' },
      { window_id: `first_use:5h:${NOW_S + 5 * HOUR_S}`, used_amount: '3' },
    ]);
  });

  it('count values, each once in its window', async () => {
    const counted = { limit: '9', currency: '', period: 'first_use:1h' } as const;
    await fixture.publish('ulp_2', [
      { key: 'unique', measure: 'unique', of: 'user', ...counted },
      { key: 'max', measure: 'max', ...counted },
    ]);
    await fixture.route({ planId: 'ulp_2' });
    const call = (hours: number, user: string, quantity: string) =>
      at(hours, { dimensions: { user }, items: [{ quantity }] });
    await fixture.post([call(0, 'a', '1'), call(0.5, 'b', '4'), call(0.75, 'a', '2'), call(1, 'a', '3')]);
    expect(await windows()).toEqual(['0: 2', '1: 1', '0: 4', '1: 3']);
    await fixture.post([call(0.25, 'b', '7'), { ...call(0.5, 'b', '4'), isReversal: true }]);
    await fixture.post([{ ...call(0.25, 'b', '7'), isReversal: true }, call(-1, 'c', '9')]);
    expect(await windows()).toEqual(['0: 1', '1: 1', '0: 2', '1: 3']);
  });
});
