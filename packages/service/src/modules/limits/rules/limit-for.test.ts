import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { windowOrNext } from '../check/limit-status.js';
import { createWorkerCatalog } from './index.js';
import { createManagementApi, type ManagementApi, ruleOf } from './management.testing.js';

const HOUR_S = 3_600;

let api: ManagementApi;
let subjectId = '';
let made = 0;
beforeAll(async () => {
  api = await createManagementApi();
});
beforeEach(() => {
  made += 1;
  subjectId = `s${made}`;
});
afterAll(() => api.close());

/** Advances the clock to the start of the next hour, plus some seconds. */
function advanceToNextHour(plusS = 0): void {
  const nowS = api.clock.nowMs() / 1_000;
  api.clock.advanceMs((HOUR_S - (nowS % HOUR_S) + plusS) * 1_000);
}

/** Returns the limits of the hour that is `hours` from now, by limit_key, in whole units. */
async function limits(hours = 0): Promise<Record<string, bigint>> {
  const { projectId, postgres } = api;
  const ref = { projectId, subjectType: 'user', subjectId };
  const route = (await createWorkerCatalog().read(postgres.db, [ref])).resolve(projectId, 'user', subjectId);
  if (route === undefined) throw new Error('there is no route');
  const atS = Math.floor(api.clock.nowMs() / 1_000) + hours * HOUR_S;
  return Object.fromEntries(
    route.rules.rules.map((rule) => {
      const window = windowOrNext(rule, route.settings, atS);
      return [rule.limitKey, route.limitFor(rule, window) / 10n ** 18n];
    }),
  );
}

const hourly = (amount: string, limit_key = 'spend') =>
  ruleOf({ limit_key, period: 'hour', limit_amount: amount });
const publish = async (planId: string, ...rules: ReturnType<typeof ruleOf>[]) => {
  await api.must(200, 'PUT', `/usage-limit-plans/${planId}`, { rules });
  await api.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
};

describe('limits of a plan', () => {
  it('stay for the window that is open, and change with the next one', async () => {
    const usage_limit_plan_id = await api.makePlan([hourly('1')]);
    await api.makeRoute({ subject_id: subjectId, usage_limit_plan_id });
    advanceToNextHour(100);
    await publish(usage_limit_plan_id, hourly('2'), hourly('20', 'new'));
    expect(await limits()).toEqual({ spend: 1n, new: 20n });
    expect(await limits(1)).toEqual({ spend: 2n, new: 20n });
    advanceToNextHour(100);
    expect(await limits(-1)).toEqual({ spend: 1n, new: 20n });
    expect(await limits()).toEqual({ spend: 2n, new: 20n });
  });

  it('are those of the binding in the window in which a plan is bound', async () => {
    const usage_limit_plan_id = await api.makePlan([hourly('1')]);
    const { id } = await api.makeRoute({ subject_id: subjectId });
    advanceToNextHour(100);
    await publish(usage_limit_plan_id, hourly('2'));
    api.clock.advanceMs(100_000);
    await api.must(200, 'PUT', `/subject-routes/${id}`, { usage_limit_plan_id });
    api.clock.advanceMs(100_000);
    await publish(usage_limit_plan_id, hourly('3'));
    expect([await limits(), await limits(1)]).toEqual([{ spend: 2n }, { spend: 3n }]);
  });

  it('of a rule that was taken out count from its return', async () => {
    const usage_limit_plan_id = await api.makePlan([hourly('1')]);
    await api.makeRoute({ subject_id: subjectId, usage_limit_plan_id });
    advanceToNextHour(100);
    await publish(usage_limit_plan_id);
    advanceToNextHour(100);
    await publish(usage_limit_plan_id, hourly('1', 'other'));
    await publish(usage_limit_plan_id, hourly('1', 'other'), hourly('5'));
    await publish(usage_limit_plan_id, hourly('1', 'other'), hourly('6'));
    expect(await limits(-1)).toEqual({ other: 1n, spend: 1n });
    expect(await limits()).toEqual({ other: 1n, spend: 5n });
    expect(await limits(1)).toEqual({ other: 1n, spend: 6n });
  });

  it('keep their order, though all were published within a millisecond', async () => {
    const usage_limit_plan_id = await api.makePlan([hourly('1')]);
    await api.makeRoute({ subject_id: subjectId, usage_limit_plan_id });
    for (const amount of ['2', '3', '3', '4']) await publish(usage_limit_plan_id, hourly(amount));
    expect([await limits(), await limits(1)]).toEqual([{ spend: 1n }, { spend: 4n }]);
  });
});

describe('direct limits', () => {
  const change = (routeId: string, limitId: string, body: object) =>
    api.must(200, 'PUT', `/subject-routes/${routeId}/limits/${limitId}`, body);

  it('change with the next window, or now', async () => {
    const { id: routeId } = await api.makeRoute({ subject_id: subjectId });
    const { id } = await api.must(201, 'POST', `/subject-routes/${routeId}/limits`, hourly('1'));
    advanceToNextHour(100);
    await change(routeId, id, { limit_amount: '2' });
    expect([await limits(), await limits(1)]).toEqual([{ spend: 1n }, { spend: 2n }]);
    await change(routeId, id, { effective: 'now' });
    expect([await limits(-1), await limits()]).toEqual([{ spend: 1n }, { spend: 2n }]);
    await change(routeId, id, { limit_amount: '3' });
    expect([await limits(), await limits(1)]).toEqual([{ spend: 2n }, { spend: 3n }]);
    await change(routeId, id, { limit_amount: '4', effective: 'now' });
    expect([await limits(), await limits(1)]).toEqual([{ spend: 4n }, { spend: 4n }]);
    advanceToNextHour(100);
    expect([await limits(-1), await limits()]).toEqual([{ spend: 4n }, { spend: 4n }]);
  });

  it.each([
    ['a sliding window', { period: 'sliding:1h' }],
    ['concurrent work', { measure: 'concurrency', currency: undefined, period: undefined }],
  ])('of %s change at once', async (_, fields) => {
    const { id: routeId } = await api.makeRoute({ subject_id: subjectId });
    const rule = { ...hourly('1'), ...fields };
    const { id } = await api.must(201, 'POST', `/subject-routes/${routeId}/limits`, rule);
    api.clock.advanceMs(5_000);
    await change(routeId, id, { limit_amount: '2', effective: 'next_window' });
    expect(await limits()).toEqual({ spend: 2n });
  });

  it('of another period are those of the change at once: counting restarts', async () => {
    const { id: routeId } = await api.makeRoute({ subject_id: subjectId });
    const { id } = await api.must(201, 'POST', `/subject-routes/${routeId}/limits`, hourly('1'));
    api.clock.advanceMs(5_000);
    await change(routeId, id, { period: 'week', limit_amount: '50' });
    expect(await limits()).toEqual({ spend: 50n });
    api.clock.advanceMs(5_000);
    await change(routeId, id, { period: 'hour', limit_amount: '2' });
    expect([await limits(), await limits(1)]).toEqual([{ spend: 1n }, { spend: 2n }]);
  });
});
