import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
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
  api = await createLimitBacktestApi();
  planId = await api.makePlan([{ limit_amount: '1' }]);
  await api.makeRoute('u1', { usage_limit_plan_id: planId });
  await api.use({ atS: START_S + HOUR_S });
});
afterAll(() => api.close());

const listOf = async (plan: string, query = '') => {
  const { status, json } = await api.send('GET', `/usage-limit-plans/${plan}/backtests${query}`);
  return { status, ...json() };
};
const pathOf = (id: string, plan = planId) => `/usage-limit-plans/${plan}/backtests/${id}`;
/** Starts a backtest that waits at the gate; returns its id. */
async function startWaiting(): Promise<string> {
  api.gate.close();
  return (await api.send('POST', `/usage-limit-plans/${planId}/backtest`, BODY)).json().id;
}
const stopped = () => waitFor(() => api.jobs.runningCount === 0);

describe('the backtests of a plan', () => {
  it('are listed newest first, without their results, and apart from those of other plans', async () => {
    const other = await api.makePlan([{ limit_amount: '9' }]);
    const first = await api.backtest(planId, BODY);
    const second = await api.backtest(planId, { ...BODY, to: START_S + 2 * DAY_S });
    const foreign = await api.backtest(other, BODY);
    const { results, truncated, counted_until, ...summary } = second;
    expect([results.length, truncated, counted_until]).toEqual([1, false, START_S + 2 * DAY_S]);
    const shown = await listOf(planId);
    expect(shown.backtests[0]).toEqual(summary);
    expect(shown.backtests.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(await listOf(planId, '?limit=1&offset=1')).toMatchObject({
      ...{ backtests: [{ id: first.id, request: BODY, revision: 1 }], total_count: 2, limit: 1, offset: 1 },
    });
    expect((await listOf(other)).backtests).toMatchObject([{ id: foreign.id, usage_limit_plan_id: other }]);
  });

  it('are found by the id of a version, and not in another project', async () => {
    const { published } = (await api.send('GET', `/usage-limit-plans/${planId}`)).json();
    expect((await listOf(published.id)).total_count).toBe(2);
    const sibling = `/v1/projects/${await api.makeProject(api.tenantId)}/usage-limit-plans/${planId}`;
    expect((await api.call('GET', `${sibling}/backtests`)).status).toBe(404);
    expect((await api.call('DELETE', `${sibling}/backtests/bt_none`)).status).toBe(404);
  });

  it('need permission to read limits and usage', async () => {
    for (const permission of ['usage:read', 'usage_control:read'] as const) {
      const key = await api.makeKey(api.tenantId, [permission]);
      const path = `/usage-limit-plans/${planId}/backtests`;
      expect((await api.send('GET', path, undefined, key)).status).toBe(403);
      expect((await api.send('DELETE', `${path}/bt_none`, undefined, key)).status).toBe(403);
    }
  });
});

describe('a running backtest of a plan', () => {
  it('is cancelled on request, and stays so', async () => {
    const id = await startWaiting();
    expect((await listOf(planId)).backtests[0]).toMatchObject({ id, status: 'running' });
    const cancelled = await api.send('DELETE', pathOf(id));
    expect([cancelled.status, cancelled.json()]).toMatchObject([
      200,
      { id, status: 'cancelled', results: [], counted_until: null, finished_at: TEST_NOW_S },
    ]);
    api.gate.open();
    await stopped();
    expect((await api.send('GET', pathOf(id))).json()).toMatchObject({ status: 'cancelled', failure: null });
    expect((await api.send('DELETE', pathOf(id))).json().status).toBe('cancelled');
    expect((await api.backtest(planId, BODY)).status).toBe('succeeded');
  });

  it('is cancelled as one of its plan only', async () => {
    const id = await startWaiting();
    const other = await api.makePlan([]);
    expect((await api.send('DELETE', pathOf(id, other))).status).toBe(404);
    expect((await api.send('GET', pathOf(id))).json().status).toBe('running');
    api.gate.open();
    await stopped();
    expect((await api.send('DELETE', pathOf(id))).json()).toMatchObject({
      status: 'succeeded',
      results: [{ outcome: 'blocked' }],
    });
  });
});
