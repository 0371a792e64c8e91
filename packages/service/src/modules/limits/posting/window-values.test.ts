import { UNIQUE_VALUES_MAX } from '@tollgate/contract';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { WINDOW_QUANTITIES_MAX } from '../windows/window-values.js';
import { PostingFixture } from './posting.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const DAY_S = 86_400;
const fixture = await PostingFixture.create();
/** The numbers of the limit by models, and of that by the greatest quantity. */
let ruleNos: number[] = [];
afterAll(() => fixture.drop());
beforeEach(async () => {
  await fixture.reset();
  const rule = { currency: '', limit: '2', notifyAt: [50] } as const;
  ruleNos = await fixture.publish('ulp_1', [
    { key: 'models', measure: 'unique', of: 'model', ...rule },
    { key: 'greatest', measure: 'max', ...rule },
  ]);
  await fixture.route({ planId: 'ulp_1' });
});

const call = (model: string, quantity = '1', fields: TestUsage = {}): TestUsage => ({
  dimensions: { model },
  items: [{ quantity }],
  ...fields,
});
const back = (model: string, quantity = '1') => call(model, quantity, { isReversal: true });
const used = async () => (await fixture.windows()).map((window) => window.used);
const valueSets = () =>
  fixture.rows('select kept, missed, missed_up_to from window_value_sets order by rule_no');

describe('limits that count values', () => {
  it('count a value once, and one that was taken back as often as it was counted not at all', async () => {
    await fixture.post([call('a'), call('a'), call('b', '3')]);
    expect(await used()).toEqual(['2', '3']);
    await fixture.post([back('a'), back('b', '3')]);
    expect(await used()).toEqual(['1', '1']);
    await fixture.post([back('a')]);
    expect(await used()).toEqual(['0', '0']);
    expect(await fixture.rows('select from window_values')).toEqual([]);
    expect(await valueSets()).toEqual([
      { kept: 0, missed: 0, missed_up_to: null },
      { kept: 0, missed: 0, missed_up_to: null },
    ]);
  });

  it('count late usage in the window of its time', async () => {
    await fixture.post([call('a', '2')]);
    await fixture.post([call('a', '5', { atS: NOW_S - DAY_S })]);
    await fixture.post([call('b', '1', { atS: NOW_S - DAY_S }), call('c', '1')]);
    const windows = await fixture.windows();
    const late = windows.filter(({ window_start }) => Number(window_start) < NOW_S - (NOW_S % DAY_S));
    expect(late.map((window) => window.used)).toEqual(['2', '5']);
    expect(windows.filter((window) => !late.includes(window)).map((window) => window.used)).toEqual([
      '2',
      '2',
    ]);
  });

  it('send an alert when a maximum is above the limit, and a recovery when it was taken back', async () => {
    const alerts = async () => {
      const all = await fixture.alerts();
      return all.map((text) => {
        const [type, percent, ruleNo] = text.split(' ');
        return `${type} ${percent} ${ruleNos.indexOf(Number(ruleNo))}`;
      });
    };
    await fixture.post([call('a', '2')]);
    expect(await alerts()).toEqual([
      'usage_limit.threshold_reached 50#1 0',
      'usage_limit.threshold_reached 50#1 1',
    ]);
    await fixture.post([call('a', '2.000000000000000001')]);
    await fixture.post([back('a', '2.000000000000000001')]);
    expect((await alerts()).slice(0, 2)).toEqual([
      'usage_limit.exceeded 100#1 1',
      'usage_limit.recovered 100#1 1',
    ]);
  });

  it('do not count usage without the dimension, nor quantities of 0 or less', async () => {
    await fixture.post([{ items: [{ quantity: '-4' }, { quantity: '0' }] }]);
    expect(await used()).toEqual([]);
    await fixture.post([call('')]);
    expect(await used()).toEqual(['1', '1']);
  });

  it('stop at the bound of different values, and forget which others there were', async () => {
    await fixture.post([call('a')]);
    await addValues(UNIQUE_VALUES_MAX - 1);
    await fixture.post([call('new'), call('newer'), call('a')]);
    expect((await used())[0]).toBe('1');
    expect((await valueSets())[0]).toMatchObject({ kept: UNIQUE_VALUES_MAX, missed: 2 });
    await fixture.post([back('new'), back('a')]);
    expect((await valueSets())[0]).toMatchObject({ kept: UNIQUE_VALUES_MAX, missed: 1 });
    await fixture.post([back('a'), call('newest')]);
    expect((await used())[0]).toBe('1');
    expect((await valueSets())[0]).toMatchObject({ kept: UNIQUE_VALUES_MAX, missed: 1 });
  });

  it('keep the greatest quantities, and show the next one as the greatest once all others were taken back', async () => {
    const quantities = Array.from({ length: WINDOW_QUANTITIES_MAX }, (_, index) => ({
      quantity: String(index + 3),
    }));
    await fixture.post([{ items: quantities }]);
    await fixture.post([call('a', '2'), call('a', '1'), call('a', '2')]);
    const greatest = String(WINDOW_QUANTITIES_MAX + 2);
    expect((await used())[1]).toBe(greatest);
    expect((await valueSets())[1]).toMatchObject({ kept: WINDOW_QUANTITIES_MAX, missed: 3 });
    await fixture.post([call('a', '1.5')]);
    expect((await valueSets())[1]).toMatchObject({ kept: WINDOW_QUANTITIES_MAX, missed: 4 });
    await fixture.post([{ items: quantities, isReversal: true }]);
    expect((await used())[1]).toBe('2');
    await fixture.post(['2', '1', '2', '1.5'].map((quantity) => back('a', quantity)));
    expect((await used())[1]).toBe('0');
    expect((await valueSets())[1]).toEqual({ kept: 0, missed: 0, missed_up_to: null });
  });
});

/** Adds other values to the window of the first rule, as if they had been counted before. */
async function addValues(count: number): Promise<void> {
  await fixture.rows(
    `insert into window_values select project_no, subject_type, subject_id, rule_no, window_start, md5(n::text)::uuid, 1
    from window_value_sets, generate_series(1, $1::integer) as n where rule_no = $2`,
    [count, ruleNos[0]],
  );
  await fixture.rows(`update window_value_sets set kept = kept + $1::integer where rule_no = $2`, [
    count,
    ruleNos[0],
  ]);
}
