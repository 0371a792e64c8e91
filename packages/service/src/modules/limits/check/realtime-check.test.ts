import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../../testing/api.js';
import {
  createTestLimits,
  makeLimit,
  makeRaise,
  makeRoute,
  setSeen,
  setUsed,
  setWallet,
  type TestLimits,
} from './realtime.testing.js';

let api: TestLimits;

beforeAll(async () => {
  api = await createTestLimits();
  const route = await makeRoute(api, { id: 'ra_all' });
  const month = await makeLimit(api, route, { key: '1month', amount: '12.5' });
  await setUsed(api, month, { startS: Date.UTC(2026, 8) / 1_000, limit: '12.5' }, '2.5');
  const tokens = await makeLimit(api, route, {
    key: '2tokens',
    measure: 'quantity',
    selector: ['metric_prefix', 'llm.'],
    dimension: ['model', 'large'],
    period: 'day',
    amount: '1000',
  });
  await setUsed(api, tokens, { startS: TEST_NOW_S - (TEST_NOW_S % 86_400), limit: '1000' }, '1000.5');
  await makeLimit(api, route, {
    key: '3life',
    selector: ['metric', 'llm.calls'],
    currency: 'EUR',
    period: 'lifetime',
    amount: '5',
    action: 'notify',
  });
});
afterAll(() => api.close());

describe('the check', () => {
  const check = async (asked: object, subjectId = 'u1') => {
    const body = { subject_type: 'user', subject_id: subjectId, ...asked };
    const answer = await api.call('POST', `${api.url}/subject/realtime/check`, body);
    if (answer.status !== 200) return answer.status;
    const { allowed, blocked_by: blockedBy, ...rest } = answer.json();
    expect(allowed).toBe(blockedBy.length === 0 && rest.blocked_by_wallet === undefined);
    return blockedBy.map(({ id }: { id: string }) => id);
  };

  it('allows while used and asked together do not exceed the limit', async () => {
    expect(await check({ metric: 'http.calls', amount: '10', currency: 'USD' })).toEqual([]);
    const more = { metric: 'http.calls', amount: '10.000000000000000001', currency: 'USD' };
    expect(await check(more)).toEqual(['racl_1month']);
  });

  it('counts what leases hold', async () => {
    const body = { subject_type: 'user', subject_id: 'u4', amount: '4', currency: 'USD', ttl_seconds: 60 };
    await api.call('POST', `${api.url}/budget-leases`, body);
    expect(await check({ amount: '8.5', currency: 'USD' }, 'u4')).toEqual([]);
    expect(await check({ amount: 8.51, currency: 'USD' }, 'u4')).toEqual(['racl_1month']);
  });

  it('asks, without a quantity, about any more usage at all', async () => {
    expect(await check({ metric: 'llm.tokens', dimensions: { model: 'large' } })).toEqual(['racl_2tokens']);
    expect(await check({ metric: 'llm.tokens', dimensions: { model: 'large' } }, 'u5')).toEqual([]);
    expect(
      await check({ metric: 'llm.tokens', dimensions: { model: 'large' }, quantity: 1000 }, 'u5'),
    ).toEqual([]);
    expect(
      await check({ metric: 'llm.tokens', dimensions: { model: 'large' }, quantity: '1000.5' }, 'u5'),
    ).toEqual(['racl_2tokens']);
  });

  it('asks only the limits that would count the usage', async () => {
    const asked = { quantity: '5' };
    for (const other of [
      { ...asked, metric: 'llm.tokens' },
      { ...asked, metric: 'llm.tokens', dimensions: { model: 'small' } },
      { ...asked, metric: 'http.calls', dimensions: { model: 'large' } },
      { ...asked, dimensions: { model: 'large' } },
      { metric: 'llm.calls', amount: '100', currency: 'EUR' },
      { metric: 'llm.calls', amount: '100', currency: 'GBP' },
    ]) {
      expect([other, await check(other)]).toEqual([other, []]);
    }
  });

  it('refuses a subject whose limit is used up to the last digit', async () => {
    const route = await makeRoute(api, { id: 'ra_full', subjectId: 'full' });
    const ruleNo = await makeLimit(api, route, { key: 'full', amount: '1', period: 'lifetime' });
    await setUsed(api, ruleNo, { startS: 0, limit: '1' }, '0.999999999999999999', 'full');
    expect(await check({ amount: '0', currency: 'USD' }, 'full')).toEqual([]);
    await setUsed(api, ruleNo, { startS: 0, limit: '1' }, '1', 'full');
    expect(await check({}, 'full')).toEqual(['racl_full']);
    expect(await check({ currency: 'EUR' }, 'full')).toEqual([]);
  });

  it('asks a count for one charge item, or for as many as the quantity says', async () => {
    const route = await makeRoute(api, { id: 'ra_count', subjectId: 'count' });
    const ruleNo = await makeLimit(api, route, {
      key: 'count',
      measure: 'count',
      amount: '5',
      period: 'lifetime',
    });
    await setUsed(api, ruleNo, { startS: 0, limit: '5' }, '3', 'count');
    expect(await check({}, 'count')).toEqual([]);
    expect(await check({ quantity: '2', amount: '9', currency: 'EUR' }, 'count')).toEqual([]);
    expect(await check({ quantity: '2.5' }, 'count')).toEqual(['racl_count']);
    await setUsed(api, ruleNo, { startS: 0, limit: '5' }, '4.5', 'count');
    expect(await check({ quantity: '0.1' }, 'count')).toEqual(['racl_count']);
  });

  it('asks a limit by different values for a new one, and always allows one that it has counted', async () => {
    const route = await makeRoute(api, { id: 'ra_unique', subjectId: 'unique' });
    const limit = { key: 'unique', measure: 'unique', of: 'seat', amount: '2', period: 'lifetime' } as const;
    const ruleNo = await makeLimit(api, route, limit);
    const asked = (seat: unknown) => check({ dimensions: { seat } }, 'unique');
    await setUsed(api, ruleNo, { startS: 0, limit: '2' }, '1', 'unique');
    await setSeen(api, ruleNo, 'a', 'unique');
    await setSeen(api, ruleNo, 'back', 'unique', -1);
    expect(await asked('b')).toEqual([]);
    await setUsed(api, ruleNo, { startS: 0, limit: '2' }, '2', 'unique');
    await setSeen(api, ruleNo, '1.5', 'unique');
    expect(await asked('a')).toEqual([]);
    expect(await asked(1.5)).toEqual([]);
    expect(await asked('b')).toEqual(['racl_unique']);
    expect(await asked('back')).toEqual(['racl_unique']);
    expect(await check({ dimensions: { other: 'b' } }, 'unique')).toEqual([]);
    expect(await check({ quantity: '9' }, 'unique')).toEqual([]);
  });

  it('refuses a greatest quantity only above the limit, and everything once it is exceeded', async () => {
    const route = await makeRoute(api, { id: 'ra_max', subjectId: 'max' });
    const limit = { key: 'max', measure: 'max', amount: '5', period: 'lifetime' } as const;
    const ruleNo = await makeLimit(api, route, limit);
    const exceeded = async () => {
      const { limits } = (
        await api.call('GET', `${api.url}/subject/realtime/limits?subject_type=user&subject_id=max`)
      ).json();
      return [limits[0].used_amount, limits[0].remaining_amount, limits[0].exceeded];
    };
    await setUsed(api, ruleNo, { startS: 0, limit: '5' }, '5', 'max');
    expect(await exceeded()).toEqual(['5', '0', false]);
    expect(await check({ quantity: '5' }, 'max')).toEqual([]);
    expect(await check({ quantity: '5.000000000000000001' }, 'max')).toEqual(['racl_max']);
    expect(await check({}, 'max')).toEqual([]);
    await setUsed(api, ruleNo, { startS: 0, limit: '5' }, '6', 'max');
    expect(await exceeded()).toEqual(['6', '-1', true]);
    expect(await check({ quantity: '1' }, 'max')).toEqual(['racl_max']);
    expect(await check({}, 'max')).toEqual(['racl_max']);
  });

  it('asks for room in the raised limit, as leases do, until the raise ends', async () => {
    const route = await makeRoute(api, { id: 'ra_raised', subjectId: 'raised' });
    const ruleNo = await makeLimit(api, route, { key: 'raised', amount: '5', period: 'lifetime' });
    await setUsed(api, ruleNo, { startS: 0, limit: '5' }, '5', 'raised');
    const asked = { amount: '10', currency: 'USD' };
    const lease = { subject_type: 'user', subject_id: 'raised', ttl_seconds: 60, ...asked };
    const leased = async () => (await api.call('POST', `${api.url}/budget-leases`, lease)).status;
    const snapshot = async () =>
      (await api.call('GET', `${api.url}/subject/realtime/limits?subject_type=user&subject_id=raised`)).json()
        .limits;
    expect(await check(asked, 'raised')).toEqual(['racl_raised']);
    expect(await leased()).toBe(409);
    expect(await snapshot()).toMatchObject([{ limit_amount: '5', exceeded: true }]);
    expect((await snapshot())[0]).not.toHaveProperty('raised_amount');
    await makeRaise(api, route, 'raised');
    const raised = { limit_amount: '15', raised_amount: '10', remaining_amount: '10', exceeded: false };
    expect(await snapshot()).toMatchObject([raised]);
    expect(await check(asked, 'raised')).toEqual([]);
    expect(await check({ ...asked, amount: '10.1' }, 'raised')).toEqual(['racl_raised']);
    expect(await leased()).toBe(201);
    expect(await leased()).toBe(409);
    api.clock.advanceMs(3_600_000);
    expect(await snapshot()).toMatchObject([{ limit_amount: '5' }]);
    expect(await check({}, 'raised')).toEqual(['racl_raised']);
    api.clock.advanceMs(-3_600_000);
  });

  it('asks a limit on a dimension of any type', async () => {
    const route = await makeRoute(api, { id: 'ra_dim', subjectId: 'dim' });
    await makeLimit(api, route, { key: 'd1', amount: '0', dimension: ['size', '1.5'] });
    await makeLimit(api, route, { key: 'd2', amount: '0', dimension: ['fast', 'true'] });
    await makeLimit(api, route, { key: 'd3', amount: '0', dimension: ['__proto__', 'x'] });
    expect(await check({ dimensions: { size: 1.5 } }, 'dim')).toEqual(['racl_d1']);
    expect(await check({ dimensions: { fast: true, size: '1.50' } }, 'dim')).toEqual(['racl_d2']);
    const body = '{"subject_type":"user","subject_id":"dim","dimensions":{"__proto__":"x","size":1.50}}';
    const answer = await api.call('POST', `${api.url}/subject/realtime/check`, body);
    expect(answer.json().blocked_by.map(({ id }: { id: string }) => id)).toEqual(['racl_d1', 'racl_d3']);
  });

  it('needs a currency with an amount, and nothing below 0', async () => {
    for (const body of [
      { amount: '1' },
      { amount: '-1', currency: 'USD' },
      { quantity: '-0.1' },
      { quantity: '1e400' },
      { quantity: '0.0000000000000000001' },
      { quantity: true },
      { metric: 'Not A Metric' },
      { dimensions: { a: { b: 1 } } },
      { unknown: 1 },
    ]) {
      expect([body, await check(body)]).toEqual([body, 400]);
    }
  });

  it('asks a prepaid wallet to cover the amount', async () => {
    const route = await makeRoute(api, { id: 'ra_pre', subjectId: 'prepaid' });
    await setWallet(api, route, { balance: '3' });
    const ask = async (asked: object) =>
      (
        await api.call('POST', `${api.url}/subject/realtime/check`, {
          subject_type: 'user',
          subject_id: 'prepaid',
          ...asked,
        })
      ).json();
    expect(await ask({ amount: '3', currency: 'USD' })).toEqual({
      allowed: true,
      blocked_by: [],
      warnings: [],
    });
    expect(await ask({ amount: '3.1', currency: 'USD' })).toEqual({
      allowed: false,
      blocked_by: [],
      blocked_by_wallet: { account_id: route.accountId, currency: 'USD', available: '3' },
      warnings: [],
    });
    expect(await ask({ amount: '100', currency: 'EUR' })).toMatchObject({ allowed: true });
    await setWallet(api, route, { balance: '0' });
    expect(await ask({ currency: 'USD' })).toMatchObject({ allowed: false });
    expect(await ask({})).toMatchObject({ allowed: true });
    await setWallet(api, route, { balance: '-5', mode: 'postpaid' });
    expect(await ask({ amount: '3.1', currency: 'USD' })).toMatchObject({ allowed: true });
  });
});
