import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import {
  createLimitBacktestApi,
  DAY_S,
  HOUR_S,
  type LimitBacktestApi,
  START_S,
} from './limit-backtest.testing.js';

const BODY = { from: START_S, to: START_S + DAY_S };

let api: LimitBacktestApi;
let planId: string;
beforeAll(async () => {
  api = await createLimitBacktestApi({
    pageEventsMax: 2,
    resultsMax: 3,
    subjectsMax: 2,
    windowsMax: 3,
    valuesMax: 4,
  });
  planId = await api.makePlan([{ limit_amount: '1' }]);
  await api.makeRoute('u1', { usage_limit_plan_id: planId });
  await api.use(...[1, 25, 49, 73, 97].map((hours) => ({ atS: START_S + hours * HOUR_S })));
});
afterAll(() => api.close());

const start = (body: object, plan = planId, key?: string) =>
  api.send('POST', `/usage-limit-plans/${plan}/backtest`, body, key);

describe('a request', () => {
  it.each([
    [{ from: START_S, to: START_S }, 'to: must be after from'],
    [{ from: START_S, to: START_S + 366 * DAY_S + 1 }, 'to: expected at most 366 days after from'],
    [{ ...BODY, subjects: [] }, 'subjects'],
    [{ ...BODY, subjects: [{ subject_type: 'user' }] }, 'subjects[0].subject_id'],
    [
      { ...BODY, subjects: [{ subject_type: 'user', subject_id: '*' }] },
      'subjects[0].subject_id: expected the id',
    ],
    [
      {
        ...BODY,
        subjects: [
          { subject_type: 'user', subject_id: 'u1' },
          { subject_type: 'user', subject_id: 'nobody' },
        ],
      },
      'subjects[1]: expected a subject with a route: user nobody has none',
    ],
    [
      {
        ...BODY,
        subjects: Array.from({ length: 101 }, (_, id) => ({ subject_type: 'user', subject_id: `${id}` })),
      },
      'subjects',
    ],
  ])('with %j returns 400', async (body, message) => {
    const refused = await start(body);
    expect([refused.status, refused.json().code]).toEqual([400, 'invalid_request']);
    expect(refused.text).toContain(message);
  });

  it('for a plan of another project, or an unknown one, returns 404; so does a backtest of another plan', async () => {
    const other = await api.makeProject(api.tenantId);
    const url = `/v1/projects/${other}/usage-limit-plans/${planId}`;
    const { id } = await api.backtest(planId, BODY);
    const asked = [
      api.call('POST', `${url}/backtest`, BODY),
      api.call('GET', `${url}/backtests/${id}`),
      start(BODY, 'ulp_none'),
      api.send('GET', `/usage-limit-plans/${await api.makePlan([])}/backtests/${id}`),
      api.send('GET', `/usage-limit-plans/${planId}/backtests/bt_none`),
    ];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });

  it('needs permission to read limits and usage', async () => {
    const { id } = await api.backtest(planId, BODY);
    for (const permission of ['usage:read', 'usage_control:read'] as const) {
      const key = await api.makeKey(api.tenantId, [permission]);
      expect((await start(BODY, planId, key)).status).toBe(403);
      const read = await api.send('GET', `/usage-limit-plans/${planId}/backtests/${id}`, undefined, key);
      expect(read.status).toBe(403);
    }
    const key = await api.makeKey(api.tenantId, ['usage:read', 'usage_control:read']);
    expect((await start(BODY, planId, key)).status).toBe(202);
    await waitFor(() => api.jobs.runningCount === 0);
  });

  it('takes the id of a version in place of that of the plan', async () => {
    const published = await api.send('GET', `/usage-limit-plans/${planId}`);
    expect((await api.backtest(published.json().published.id, BODY)).usage_limit_plan_id).toBe(planId);
  });
});

describe('a bound', () => {
  it('of the results leaves out later ones, and says until when they are complete', async () => {
    const found = await api.backtest(planId, { ...BODY, to: START_S + 10 * DAY_S });
    expect(found.results.map(({ at }) => (at - START_S) / HOUR_S)).toEqual([1, 25, 49]);
    expect(found).toMatchObject({ truncated: true, counted_until: START_S + 73 * HOUR_S });
    const whole = await api.backtest(planId, { ...BODY, to: START_S + 73 * HOUR_S });
    expect(whole).toMatchObject({ truncated: false, counted_until: START_S + 73 * HOUR_S });
  });

  it('of the memory ends a backtest early', async () => {
    const rules = [1, 2, 3, 4].map((n) => ({ limit_key: `limit-${n}`, limit_amount: '99' }));
    const many = await api.makePlan(rules);
    const subjects = [{ subject_type: 'user', subject_id: 'u1' }];
    const body = { ...BODY, to: START_S + 10 * DAY_S, subjects };
    expect(await api.backtest(many, body)).toMatchObject({
      ...{ truncated: true, counted_until: START_S + 25 * HOUR_S },
      progress: { events_done: 1, events_total: 1 },
    });
  });

  it('of the subjects does not concern those of types that no route of the plan has', async () => {
    const ofOrgs = await api.makePlan([{ limit_amount: '4' }]);
    await api.makeRoute('o', { subject_type: 'org', usage_limit_plan_id: ofOrgs });
    const ofAll = await api.makePlan([{ limit_amount: '99' }]);
    await api.makeRoute('*', { subject_type: 'member', usage_limit_plan_id: ofAll });
    const members = [1, 2, 3, 4].map((hours) => ({
      ...{ atS: START_S + hours * HOUR_S, subjectType: 'member', subject: `m${hours}` },
      parents: [{ type: 'org', id: 'o' }],
    }));
    await api.use(...members);
    expect(await api.results(ofOrgs, BODY)).toEqual(['4h o blocked spend 100% day:0h 4/4']);
    expect(await api.backtest(ofAll, BODY)).toMatchObject({ truncated: true, results: [] });
  });
});

it('is one of the backtests of its project and tenant, and stays out of the list of those of rules', async () => {
  const planned = await api.backtest(planId, BODY);
  const [row] = await api.postgres.pool
    .query('select usage_limit_plan_id from backtests where id = $1', [planned.id])
    .then(({ rows }) => rows);
  expect(row).toEqual({ usage_limit_plan_id: planId });
  await api.postgres.pool.query(`update backtests set status = 'running', alive_at_ms = $2 where id = $1`, [
    planned.id,
    api.clock.nowMs(),
  ]);
  expect((await start(BODY)).json().code).toBe('backtest_running');
  // Its node is silent for too long: it has ended.
  api.clock.advanceMs(61_000);
  const read = await api.send('GET', `/usage-limit-plans/${planId}/backtests/${planned.id}`);
  expect(read.json()).toMatchObject({ status: 'failed', failure: { code: 'interrupted' } });
  expect((await start(BODY)).status).toBe(202);
  await waitFor(() => api.jobs.runningCount === 0);
});
