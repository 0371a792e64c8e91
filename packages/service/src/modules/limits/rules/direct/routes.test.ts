import type { LimitRuleInput } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditedActions, createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

let api: ManagementApi;
let routeId: string;
beforeAll(async () => {
  api = await createManagementApi();
});
beforeEach(async () => {
  routeId = (await api.makeRoute()).id;
});
afterAll(() => api.close());

const limitsPath = (id = routeId) => `/subject-routes/${id}/limits`;
const post = (body: object, status = 201) => api.must(status, 'POST', limitsPath(), body);
const put = (id: string, body: object, status = 200) =>
  api.must(status, 'PUT', `${limitsPath()}/${id}`, body);
const get = (id: string, status = 200) => api.must(status, 'GET', `${limitsPath()}/${id}`);
const nowS = () => Math.floor(api.clock.nowMs() / 1000);

const FULL: LimitRuleInput = ruleOf({
  measure: 'quantity',
  selector_type: 'metric',
  selector_value: 'llm.tokens',
  dimension_key: 'model',
  dimension_value: 'gpt-5',
  currency: 'TOKENS',
  period: '5 day',
  action: 'notify',
  webhook_event: 'tokens.high',
  notify_at: [50, 80],
});

describe('create', () => {
  it('returns the limit', async () => {
    const limit = await post(FULL);
    expect(limit).toEqual({
      id: expect.stringMatching(/^racl_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      rule_account_id: routeId,
      ...FULL,
      created_at: nowS(),
      updated_at: nowS(),
    });
    expect(await get(limit.id)).toEqual(limit);
  });

  it('leaves out what a limit does not have, null or not sent', async () => {
    const { webhook_event, dimension_key, dimension_value, ...bare } = FULL;
    const nulls = { webhook_event: null, dimension_key: null, dimension_value: null };
    for (const [limit_key, more] of Object.entries({ a: {}, b: nulls })) {
      const limit = await post({ ...bare, ...more, limit_key });
      for (const field of Object.keys(nulls)) expect(limit).not.toHaveProperty(field);
    }
  });

  it('refuses a key that another limit of the route has, not one of another route or of the plan', async () => {
    const { id } = await post(ruleOf());
    expect(await post(ruleOf(), 409)).toMatchObject({
      code: 'limit_key_taken',
      error: `${id} already has this limit_key.`,
      details: [{ path: 'limit_key', message: `${id} already has this limit_key` }],
    });
    const usage_limit_plan_id = await api.makePlan([ruleOf()]);
    const other = await api.makeRoute({ usage_limit_plan_id });
    await api.must(201, 'POST', limitsPath(other.id), ruleOf());
  });

  it('refuses what a rule of a plan may not be, and an unknown route', async () => {
    for (const [path, change] of Object.entries({
      period: { period: '5mo' },
      limit_amount: { limit_amount: '-1' },
      currency: { currency: '' },
      id: { id: 'racl_1' },
      effective: { effective: 'now' },
    })) {
      expect((await post({ ...ruleOf(), ...change }, 400)).details[0].path).toBe(path);
    }
    expect((await api.must(404, 'POST', limitsPath('ra_none'), ruleOf())).code).toBe('not_found');
  });

  it('refuses more limits than a route may have', async () => {
    for (let index = 0; index < 100; index += 1) await post(ruleOf({ limit_key: `k${index}` }));
    const refused = await post(ruleOf({ limit_key: 'more' }), 400);
    expect(refused.details[0].message).toContain('LIMIT_RULES_MAX');
    const { limits, total_count } = await api.must(200, 'GET', `${limitsPath()}?limit=2&offset=97`);
    expect([limits.map(({ limit_key }: LimitRuleInput) => limit_key), total_count]).toEqual([
      ['k97', 'k98'],
      100,
    ]);
    await put(limits[0].id, { limit_amount: '1' });
    await api.must(204, 'DELETE', `${limitsPath()}/${limits[0].id}`);
    await post(ruleOf({ limit_key: 'more' }));
  });
});

describe('update', () => {
  it('changes what is sent and nothing else', async () => {
    const limit = await post(FULL);
    api.clock.advanceMs(9_000);
    expect(await put(limit.id, {})).toEqual({ ...limit, updated_at: nowS() });
    const change = {
      limit_amount: '7.5',
      action: 'block',
      notify_at: [],
      period: 'day',
      limit_key: 'renamed',
    };
    expect(await put(limit.id, { ...change, effective: 'now' })).toEqual({
      ...limit,
      ...change,
      updated_at: nowS(),
    });
  });

  it('takes away what is null', async () => {
    const { id } = await post(FULL);
    const bare = await put(id, { dimension_key: null, dimension_value: null, webhook_event: null });
    expect(Object.keys(bare)).not.toEqual(expect.arrayContaining(['dimension_key']));
    expect(bare).not.toHaveProperty('webhook_event');
  });

  it('checks the limit that comes out', async () => {
    const { id } = await post(FULL);
    for (const [path, change] of Object.entries({
      dimension_value: { dimension_value: null },
      selector_value: { selector_type: 'all' },
      currency: { measure: 'amount', currency: '' },
      limit_amount: { limit_amount: '0.0000000000000000001' },
      effective: { effective: 'later' },
      colour: { colour: 'red' },
    })) {
      expect((await put(id, change, 400)).details[0].path).toBe(path);
    }
  });

  it('refuses the key of another limit, a limit of another route, and an unknown one', async () => {
    const { id } = await post(ruleOf());
    const other = await post(ruleOf({ limit_key: 'other' }));
    expect((await put(other.id, { limit_key: 'spend' }, 409)).code).toBe('limit_key_taken');
    const elsewhere = limitsPath((await api.makeRoute()).id);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? {} : undefined;
      const foreign = await api.must(404, method, `${elsewhere}/${id}`, body);
      expect(foreign).toEqual(await api.must(404, method, `${elsewhere}/racl_none`, body));
    }
  });
});

it('a limit on concurrent work has no period: it is changed without one, and needs one to measure usage', async () => {
  const { period: _, ...rule } = ruleOf({ measure: 'concurrency', limit_amount: '2' });
  const { id } = await post(rule);
  expect(await put(id, { limit_amount: '3' })).toMatchObject({ measure: 'concurrency', limit_amount: '3' });
  expect((await put(id, { measure: 'amount' }, 400)).details).toEqual([
    { path: 'period', message: 'is required' },
  ]);
  expect(await put(id, { measure: 'amount', period: 'day' })).toMatchObject({ period: 'day' });
  expect(await put(id, { measure: 'concurrency' })).not.toHaveProperty('period');
  expect(await get(id)).not.toHaveProperty('period');
});

describe('what is remembered of amounts', () => {
  const amounts = async (id: string) => {
    const { rows } = await api.postgres.pool.query(
      `select limit_amount, effective, rule_no, changed_at_ms from direct_limit_amounts where direct_limit_id = $1
      order by changed_at_ms`,
      [id],
    );
    return rows;
  };
  const shortly = async (id: string) =>
    (await amounts(id)).map(({ limit_amount, effective }) => `${limit_amount} ${effective}`);

  it('is each change of what windows take, and nothing else', async () => {
    const { id } = await post(ruleOf({ limit_amount: '1' }));
    await put(id, { limit_amount: '1.0' });
    await put(id, { limit_amount: '1', effective: 'now' });
    await put(id, { action: 'notify' });
    expect(await shortly(id)).toEqual(['1 now']);
    await put(id, { limit_amount: '2' });
    await put(id, { limit_amount: '2' });
    await put(id, { limit_amount: '2', effective: 'now' });
    await put(id, { effective: 'now' });
    await put(id, { limit_amount: '3', effective: 'next_window' });
    expect(await shortly(id)).toEqual(['1 now', '2 next_window', '2 now', '3 next_window']);
  });

  it('is in order, though all happened within a millisecond', async () => {
    const { id } = await post(ruleOf({ limit_amount: '1' }));
    for (const amount of ['2', '3', '4']) await put(id, { limit_amount: amount });
    const times = (await amounts(id)).map(({ changed_at_ms }) => changed_at_ms - api.clock.nowMs());
    expect(times).toEqual([0, 1, 2, 3]);
  });

  it('says which rule had it: another period or unit is another rule, another key is not', async () => {
    const { id } = await post(ruleOf());
    await put(id, { limit_key: 'renamed', limit_amount: '1' });
    await put(id, { period: '7d' });
    await put(id, { period: '7 days', limit_amount: '2' });
    await put(id, { currency: 'EUR' });
    await put(id, { currency: 'USD', period: 'month' });
    const [a, b, c, d, e, f] = (await amounts(id)).map(({ rule_no }) => rule_no);
    expect([b, d, f]).toEqual([a, c, a]);
    expect(new Set([a, c, e]).size).toBe(3);
  });

  it('goes with the limit', async () => {
    const { id } = await post(ruleOf());
    await api.must(204, 'DELETE', `${limitsPath()}/${id}`);
    await get(id, 404);
    expect(await amounts(id)).toEqual([]);
  });
});

it('records who changed what', async () => {
  const own = await createManagementApi();
  try {
    const path = limitsPath((await own.makeRoute()).id);
    const { id } = await own.must(201, 'POST', path, ruleOf());
    await own.must(200, 'PUT', `${path}/${id}`, { limit_amount: '5', effective: 'now' });
    await own.must(204, 'DELETE', `${path}/${id}`);
    const actions = (await auditedActions(own.postgres)).slice(2);
    expect(actions.map(([action]) => action)).toEqual(
      ['create', 'update', 'delete'].map((verb) => `direct_limit.${verb}`),
    );
    expect(actions[1]?.[1]).toMatchObject({ limit_amount: '5', effective: 'now' });
  } finally {
    await own.close();
  }
});
