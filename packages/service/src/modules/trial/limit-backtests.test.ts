import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { correctedRows, voidedRows } from '../../testing/index.js';
import {
  createLimitBacktestApi,
  DAY_S,
  HOUR_S,
  type LimitBacktestApi,
  type PastTestUsage,
  START_S,
} from './limit-backtest.testing.js';

let api: LimitBacktestApi;
beforeAll(async () => {
  api = await createLimitBacktestApi();
});
afterAll(() => api.close());

/** Usage some hours after the start. */
const at = (hours: number, fields: Partial<PastTestUsage> = {}): PastTestUsage => ({
  atS: START_S + hours * HOUR_S,
  ...fields,
});

/** Each test has subjects of its own, and a plan that only their routes use. */
async function tested(
  subject: string,
  rules: Parameters<LimitBacktestApi['makePlan']>[0],
  usage: readonly PastTestUsage[],
  route: object = {},
): Promise<string> {
  const planId = await api.makePlan(rules);
  await api.makeRoute(subject, { usage_limit_plan_id: planId, ...route });
  await api.use(...usage.map((one) => ({ subject, ...one })));
  return planId;
}

describe('the results', () => {
  it('name each percentage that was reached, once for each window, and the event that reached it', async () => {
    const planId = await api.makePlan([{ notify_at: [30, 60] }]);
    await api.makeRoute('a', { usage_limit_plan_id: planId });
    const ids = await api.use(
      ...[1, 2, 3, 4, 25].map((hours) => at(hours, { subject: 'a' })),
      at(26, { subject: 'a', amount: '2.5' }),
    );
    const found = await api.backtest(planId);
    expect(found).toMatchObject({
      ...{ status: 'succeeded', usage_limit_plan_id: planId, revision: 1, failure: null, truncated: false },
      ...{ counted_until: START_S + 10 * DAY_S, progress: { events_done: 6, events_total: 6 } },
    });
    expect(found.results[0]).toEqual({
      ...{ subject_type: 'user', subject_id: 'a', limit_key: 'spend', window_id: `day:${START_S}` },
      ...{ outcome: 'warned', threshold_percent: 30, at: START_S + HOUR_S, raw_event_id: ids[0] },
      ...{ used_amount: '1', limit_amount: '3' },
    });
    expect(await api.results(planId)).toEqual([
      '1h a warned spend 30% day:0h 1/3',
      '2h a warned spend 60% day:0h 2/3',
      '3h a blocked spend 100% day:0h 3/3',
      '25h a warned spend 30% day:24h 1/3',
      '26h a warned spend 60% day:24h 3.5/3',
      '26h a blocked spend 100% day:24h 3.5/3',
    ]);
  });

  it('warn by rules that only notify', async () => {
    const planId = await tested('b', [{ action: 'notify' }], [at(1, { amount: '5' })]);
    expect(await api.results(planId)).toEqual(['1h b warned spend 100% day:0h 5/3']);
  });

  it('count quantities, events, different values and greatest quantities, as the rule selects', async () => {
    const rules = [
      { limit_key: 'tokens', measure: 'quantity', currency: '', limit_amount: '20' },
      { limit_key: 'calls', measure: 'count', currency: '', limit_amount: '3' },
      { limit_key: 'models', measure: 'unique', of: 'model', currency: '', limit_amount: '2' },
      { limit_key: 'largest', measure: 'max', currency: '', limit_amount: '10' },
      { limit_key: 'euros', currency: 'EUR', limit_amount: '0.1' },
      { limit_key: 'other', selector_type: 'metric', selector_value: 'llm.other', limit_amount: '0.1' },
      { limit_key: 'large', dimension_key: 'model', dimension_value: 'large', limit_amount: '1' },
    ] as const;
    const model = (name: string) => ({ dimensions: { model: name } });
    const planId = await tested('c', rules, [
      at(1, model('small')),
      at(2, model('small')),
      at(3, { ...model('large'), quantity: '10.5' }),
    ]);
    expect((await api.results(planId)).sort()).toEqual([
      '2h c blocked tokens 100% day:0h 20/20',
      '3h c blocked calls 100% day:0h 3/3',
      '3h c blocked large 100% day:0h 1/1',
      '3h c blocked largest 100% day:0h 10.5/10',
      '3h c blocked models 100% day:0h 2/2',
    ]);
  });

  it('leave concurrency limits out', async () => {
    const slots = { limit_key: 'slots', measure: 'concurrency', limit_amount: '0', currency: '' } as const;
    const planId = await tested('d', [slots, { limit_amount: '1' }], [at(1)]);
    expect(await api.results(planId)).toEqual(['1h d blocked spend 100% day:0h 1/1']);
  });
});

describe('windows', () => {
  it('of minutes, of durations, and of a lifetime', async () => {
    const rules = [
      { limit_key: 'minute', period: 'minute', limit_amount: '2' },
      { limit_key: 'm90', period: '90m', limit_amount: '3' },
      { limit_key: 'ever', period: 'lifetime', limit_amount: '5' },
    ];
    const usage = [at(-100), at(1), at(1.01), at(2), at(2.6)];
    const planId = await tested('e', rules, usage, { usage_limit_anchor: START_S + HOUR_S });
    expect(await api.results(planId)).toEqual([
      '1.01h e blocked minute 100% minute:1h 2/2',
      '2h e blocked m90 100% 90m:1h 3/3',
      '2.6h e blocked ever 100% lifetime:0 5/5',
    ]);
  });

  it('follow the timezone of the route', async () => {
    const rules = [{ limit_amount: '2' }];
    // In summer, a day in Berlin begins at 22:00 in UTC.
    const usage = [at(21.5), at(22.5), at(23.5)];
    const berlin = await tested('berlin', rules, usage, { timezone: 'Europe/Berlin' });
    const utc = await tested('utc', rules, usage);
    expect(await api.results(berlin)).toEqual(['23.5h berlin blocked spend 100% day:22h 2/2']);
    expect(await api.results(utc)).toEqual(['22.5h utc blocked spend 100% day:0h 2/2']);
  });

  it('that open with usage begin with that of the duration before the tested time', async () => {
    const rules = [{ period: 'first_use:5h', limit_amount: '2' }];
    const planId = await tested('f', rules, [at(-9), at(-4), at(0), at(2), at(5), at(6), at(7.5)]);
    expect(await api.results(planId)).toEqual([
      '0h f blocked spend 100% first_use:5h:-4h 2/2',
      '5h f blocked spend 100% first_use:5h:2h 2/2',
    ]);
  });

  it('that slide are reached again after they were below', async () => {
    const rules = [{ period: 'sliding:60m', limit_amount: '2' }];
    const planId = await tested('g', rules, [at(0), at(0.5), at(0.75), at(4), at(4.5), at(9)]);
    expect(await api.results(planId)).toEqual([
      '0.5h g blocked spend 100% sliding:60m 2/2',
      '4.5h g blocked spend 100% sliding:60m 2/2',
    ]);
  });

  it('that are open at the start have counted what was used before, and nothing earlier', async () => {
    const body = { from: START_S + 12 * HOUR_S };
    const rules = [{ notify_at: [50] }];
    const planId = await tested('h', rules, [at(-1, { amount: '9' }), at(3, { amount: '2' }), at(13)]);
    expect(await api.results(planId, body)).toEqual(['13h h blocked spend 100% day:0h 3/3']);
  });
});

describe('the usage', () => {
  it('counts as it stands after corrections, and not once it is voided', async () => {
    const planId = await api.makePlan([{ limit_amount: '2' }]);
    await api.makeRoute('i', { usage_limit_plan_id: planId });
    const first = api.rowOf(at(1, { subject: 'i', amount: '7' }));
    const voided = api.rowOf(at(2, { subject: 'i', amount: '7' }));
    const items = first.items.map((item) => ({ ...item, amount: item.amount / 7n }));
    const corrections = [correctedRows(first, { items }), voidedRows(voided)];
    await api.insert([first, voided, ...corrections.flatMap(({ reversal, next }) => [reversal, next])]);
    await api.use(at(3, { subject: 'i' }));
    expect(await api.results(planId)).toEqual(['3h i blocked spend 100% day:0h 2/2']);
  });

  it('counts at the levels of its rows whose route uses the plan', async () => {
    const planId = await api.makePlan([{ limit_amount: '2' }]);
    const other = await api.makePlan([{ limit_amount: '1' }]);
    await api.makeRoute('org', { usage_limit_plan_id: planId });
    const parent = { subject_type: 'user', subject_id: 'org' };
    await api.makeRoute('m1', { usage_limit_plan_id: planId, parent });
    await api.makeRoute('m2', { usage_limit_plan_id: other, parent });
    const parents = [{ type: 'user', id: 'org' }];
    await api.use(
      at(1, { subject: 'm1', parents }),
      at(2, { subject: 'm2', parents }),
      at(3, { subject: 'm2' }),
    );
    expect(await api.results(planId)).toEqual(['2h org blocked spend 100% day:0h 2/2']);
    expect(await api.results(other)).toEqual(['2h m2 blocked spend 100% day:0h 1/1']);
  });

  it('of every subject counts for a `*` route, unless the subject has a route of its own', async () => {
    const planId = await api.makePlan([{ limit_amount: '1' }]);
    const team = { subject_type: 'team' };
    await api.makeRoute('*', { ...team, usage_limit_plan_id: planId });
    await api.makeRoute('own', team);
    await api.use(
      at(1, { subjectType: 'team', subject: 'own' }),
      at(2, { subjectType: 'team', subject: 'any' }),
      at(3, { subject: 'any' }),
    );
    expect(await api.results(planId)).toEqual(['2h any blocked spend 100% day:0h 1/1']);
  });

  it('of named subjects counts whatever their plan, and no other', async () => {
    const planId = await tested('j', [{ limit_amount: '1' }], [at(1)]);
    await api.makeRoute('k');
    await api.use(at(2, { subject: 'k' }));
    const subjects = [{ subject_type: 'user', subject_id: 'k' }];
    expect(await api.results(planId, { subjects })).toEqual(['2h k blocked spend 100% day:0h 1/1']);
  });
});

it('tests the draft, if there is one, without publishing it', async () => {
  const planId = await api.makePlan([{ limit_amount: '1' }], false);
  await api.makeRoute('l');
  await api.use(at(1, { subject: 'l' }));
  const subjects = [{ subject_type: 'user', subject_id: 'l' }];
  expect(await api.results(planId, { subjects })).toEqual(['1h l blocked spend 100% day:0h 1/1']);
  expect(await api.backtest(planId)).toMatchObject({ revision: 0, results: [] });
  const published = await tested('n', [{ limit_amount: '1' }], [at(1, { amount: '2' })]);
  await api.changePlan(published, [{ limit_key: 'other', limit_amount: '2' }]);
  expect(await api.results(published)).toEqual(['1h n blocked other 100% day:0h 2/2']);
});

it('counts the raises that a route had at the time of the usage', async () => {
  const planId = await api.makePlan([{ limit_amount: '1' }]);
  const routeId = await api.makeRoute('o', { usage_limit_plan_id: planId });
  const raise = { limit_key: 'spend', amount: '1', until: TEST_NOW_S + DAY_S, reason: 'asked' };
  const raised = await api.send('POST', `/subject-routes/${routeId}/raises`, raise);
  expect(raised.status).toBe(201);
  const atS = TEST_NOW_S + HOUR_S;
  const ids = await api.use({ atS, subject: 'o' }, { atS: atS + 1, subject: 'o' });
  const { results } = await api.backtest(planId, { from: TEST_NOW_S, to: TEST_NOW_S + DAY_S });
  expect(results).toMatchObject([{ used_amount: '2', limit_amount: '2', raw_event_id: ids[1] }]);
});
