import { LIMIT_RAISES_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditedActions, createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

const HOUR_S = 3_600;

let api: ManagementApi;
let routeId: string;
const nowS = () => Math.floor(api.clock.nowMs() / 1_000);
beforeAll(async () => {
  api = await createManagementApi();
  const planId = await api.makePlan([ruleOf({ limit_key: 'plan' })]);
  routeId = (await api.makeRoute({ usage_limit_plan_id: planId })).id;
  await api.must(201, 'POST', `/subject-routes/${routeId}/limits`, ruleOf({ limit_key: 'direct' }));
});
afterAll(() => api.close());

const body = (change: object = {}) => ({
  ...{ limit_key: 'plan', amount: '5', until: nowS() + HOUR_S, reason: 'a launch' },
  ...change,
});
const raisesOf = (id = routeId) => `/subject-routes/${id}/raises`;

describe('a raise', () => {
  it('is returned, listed newest first, and ended by hand once', async () => {
    const first = await api.must(201, 'POST', raisesOf(), body());
    expect(first).toEqual({
      ...{ id: first.id, tenant_id: api.tenantId, project_id: api.projectId, rule_account_id: routeId },
      ...{ limit_key: 'plan', amount: '5', until: nowS() + HOUR_S, reason: 'a launch', status: 'active' },
      ...{ created_by: 'service', created_at: nowS(), ended_at: null },
    });
    expect(first.id).toMatch(/^lra_/);
    api.clock.advanceMs(1_000);
    const exact = `{"limit_key":"direct","amount":0.100000000000000001,"until":${nowS() + 1},"reason":"x"}`;
    const second = await api.must(201, 'POST', raisesOf(), exact);
    expect(second.amount).toBe('0.100000000000000001');
    api.clock.advanceMs(1_000);
    await api.must(204, 'DELETE', `${raisesOf()}/${first.id}`);
    const endedAt = nowS();
    api.clock.advanceMs(1_000);
    await api.must(204, 'DELETE', `${raisesOf()}/${first.id}`);
    const page = await api.must(200, 'GET', `${raisesOf()}?limit=10`);
    expect(page).toMatchObject({ total_count: 2, limit: 10, offset: 0 });
    expect(page.raises).toEqual([
      { ...second, status: 'ended', ended_at: second.until },
      { ...first, status: 'ended', ended_at: endedAt },
    ]);
    const audited = (await auditedActions(api.postgres)).filter(([action]) =>
      action.startsWith('limit_raise'),
    );
    const made = { rule_account_id: routeId, limit_key: 'plan', amount: '5', reason: 'a launch' };
    expect(audited).toEqual([
      ['limit_raise.create', { ...made, until: first.until }],
      ['limit_raise.create', expect.objectContaining({ limit_key: 'direct', reason: 'x' })],
      ['limit_raise.delete', made],
    ]);
  });

  it.each([
    ['an unknown limit', { limit_key: 'other' }, 'limit_key'],
    ['a time in the past', { until: 1 }, 'until'],
    ['no amount', { amount: '0' }, 'amount'],
    ['less than nothing', { amount: '-1' }, 'amount'],
    ['more digits than an amount has', { amount: '0.0000000000000000001' }, 'amount'],
    ['no reason', { reason: '' }, 'reason'],
    ['a reason that is too long', { reason: 'x'.repeat(501) }, 'reason'],
    ['an unknown field', { until_s: 1 }, 'until_s'],
  ])('of %s is refused', async (_, change, path) => {
    const refused = await api.must(400, 'POST', raisesOf(), body(change));
    expect(refused.details[0].path).toBe(path);
  });

  it('is made once, however often it is sent with its key', async () => {
    const { id } = await api.makeRoute();
    const limit = ruleOf({ limit_key: 'plan' });
    const { id: limitId } = await api.must(201, 'POST', `/subject-routes/${id}/limits`, limit);
    const key = { 'idempotency-key': 'raise-1' };
    const asked = body({ until: nowS() + 1 });
    const raise = await api.must(201, 'POST', raisesOf(id), asked, key);
    const again = await api.must(201, 'POST', raisesOf(id), { ...asked, amount: '5.0' }, key);
    expect(again).toEqual(raise);
    for (const other of [{ amount: '6' }, { until: nowS() + 2 }, { reason: 'another' }]) {
      const refused = await api.must(409, 'POST', raisesOf(id), { ...asked, ...other }, key);
      expect(refused.code).toBe('idempotency_key_conflict');
    }
    await api.must(204, 'DELETE', `/subject-routes/${id}/limits/${limitId}`);
    api.clock.advanceMs(1_000);
    const ended = { ...raise, status: 'ended', ended_at: raise.until };
    expect(await api.must(201, 'POST', raisesOf(id), asked, key)).toEqual(ended);
    expect(await api.must(200, 'GET', raisesOf(id))).toMatchObject({ total_count: 1 });
    const audited = await api.postgres.pool.query(`select from audit_log where resource_id = $1`, [raise.id]);
    expect(audited.rowCount).toBe(1);
  });

  it('keeps the key of a refused request free', async () => {
    const key = { 'idempotency-key': 'raise-2' };
    await api.must(400, 'POST', raisesOf(), body({ limit_key: 'other' }), key);
    await api.must(201, 'POST', raisesOf(), body(), key);
  });

  it('does not end at the present moment', async () => {
    await api.must(400, 'POST', raisesOf(), body({ until: nowS() }));
    await api.must(201, 'POST', raisesOf(), body({ until: nowS() + 1 }));
  });

  it('belongs to one route', async () => {
    const { id } = await api.must(201, 'POST', raisesOf(), body());
    const other = (await api.makeRoute()).id;
    await api.must(404, 'DELETE', `${raisesOf(other)}/${id}`);
    await api.must(404, 'DELETE', `${raisesOf()}/lra_none`);
    await api.must(400, 'POST', raisesOf(other), body());
    await api.must(404, 'POST', raisesOf('ra_none'), body());
    await api.must(404, 'GET', raisesOf('ra_none'));
    expect(await api.must(200, 'GET', raisesOf(other))).toMatchObject({ raises: [], total_count: 0 });
  });

  it('of a rule that only a draft has, or had, is refused', async () => {
    const planId = await api.makePlan([ruleOf({ limit_key: 'old' })]);
    const { id } = await api.makeRoute({ usage_limit_plan_id: planId });
    await api.must(200, 'PUT', `/usage-limit-plans/${planId}`, { rules: [ruleOf({ limit_key: 'new' })] });
    await api.must(400, 'POST', raisesOf(id), body({ limit_key: 'new' }));
    await api.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    await api.must(400, 'POST', raisesOf(id), body({ limit_key: 'old' }));
    await api.must(201, 'POST', raisesOf(id), body({ limit_key: 'new' }));
  });

  it('is one of a bounded number that have not ended', async () => {
    const { id } = await api.makeRoute();
    await api.must(201, 'POST', `/subject-routes/${id}/limits`, ruleOf({ limit_key: 'plan' }));
    const soon = body({ until: nowS() + 60 });
    for (let made = 0; made < LIMIT_RAISES_MAX; made += 1) await api.must(201, 'POST', raisesOf(id), soon);
    const refused = await api.must(400, 'POST', raisesOf(id), soon);
    expect(refused.error).toContain('LIMIT_RAISES_MAX');
    api.clock.advanceMs(60_000);
    await api.must(201, 'POST', raisesOf(id), body());
  });

  it('goes with its route', async () => {
    const { id } = await api.makeRoute();
    await api.must(201, 'POST', `/subject-routes/${id}/limits`, ruleOf({ limit_key: 'plan' }));
    await api.must(201, 'POST', raisesOf(id), body());
    await api.must(204, 'DELETE', `/subject-routes/${id}`);
    const { rows } = await api.postgres.pool.query('select from limit_raises where route_id = $1', [id]);
    expect(rows).toEqual([]);
  });
});
