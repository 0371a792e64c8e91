import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../../testing/api.js';
import { holdings, makeLimit, setUsed, setWallet, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

describe('a lease', () => {
  it('holds its amount until it is closed', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'a1', amount: '10' });
    const lease = await calls.grant(subjectId, { amount: 2.5, metric: 'llm.tokens', ttl_seconds: 86_400 });
    const nowS = TEST_NOW_S;
    expect(lease).toEqual({
      id: expect.stringMatching(/^bl_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      subject_type: 'user',
      subject_id: subjectId,
      account_id: route.accountId,
      currency: 'USD',
      metric: 'llm.tokens',
      dimensions: {},
      parent_lease_id: null,
      holds: [{ amount: '2.5', currency: 'USD', used: '0', remaining: '2.5' }],
      status: 'active',
      amount: '2.5',
      used_amount: '0',
      remaining_amount: '2.5',
      expires_at: nowS + 86_400,
      created_at: nowS,
      closed_at: null,
      warnings: [],
    });
    const { warnings: _, ...shown } = lease;
    expect((await calls.get(lease.id)).json()).toEqual(shown);
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_a1', '2.5']]);
    const closed = await calls.close(lease.id);
    expect([closed.status, closed.json()]).toEqual([
      200,
      {
        ...shown,
        ...{ status: 'closed', remaining_amount: '0', closed_at: nowS },
        holds: [{ amount: '2.5', currency: 'USD', used: '0', remaining: '0' }],
      },
    ]);
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_a1', '0']]);
    expect((await calls.close(lease.id)).json()).toEqual(closed.json());
    expect((await calls.get(lease.id)).json()).toEqual(closed.json());
  });

  it('is refused if it does not fit next to the used and reserved amounts, and then holds nothing', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const ruleNo = await makeLimit(api, route, { key: 'b1', amount: '10', period: 'lifetime' });
    await makeLimit(api, route, { key: 'b2', amount: '100' });
    await setUsed(api, ruleNo, { startS: 0, limit: '10' }, '4', subjectId);
    await calls.grant(subjectId, { amount: '3' });
    const refused = await calls.ask(subjectId, { amount: '3.000000000000000001' });
    expect([refused.status, refused.json()]).toEqual([
      409,
      {
        error: 'Would exceed 1 limit: b1 (7 of 10 USD used or reserved).',
        code: 'limit_exceeded',
        details: [
          {
            path: 'racl_b1',
            message: '4 used and 3 reserved of 10 USD',
            limit_key: 'b1',
            plan_id: null,
            level: 0,
            subject_type: 'user',
            subject_id: subjectId,
            account_id: route.accountId,
            currency: 'USD',
            limit_amount: '10',
            used_amount: '4',
            reserved_amount: '3',
            asked_amount: '3.000000000000000001',
          },
        ],
      },
    ]);
    expect(await calls.reservedOf(subjectId)).toEqual([
      ['racl_b1', '3'],
      ['racl_b2', '3'],
    ]);
    await calls.grant(subjectId, { amount: '3' });
    expect((await calls.ask(subjectId, { amount: '0.000000000000000001' })).status).toBe(409);
  });

  it('names every limit that has no room', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'c1', amount: '1' });
    await makeLimit(api, route, { key: 'c2', amount: '0', period: 'day' });
    await makeLimit(api, route, { key: 'c3', amount: '5' });
    await makeLimit(api, route, { key: 'c4', amount: '1' });
    await makeLimit(api, route, { key: 'c5', amount: '1' });
    const { error, details } = (await calls.ask(subjectId, { amount: '2' })).json();
    expect(error).toBe(
      'Would exceed 4 limits: c1 (0 of 1 USD used or reserved), c2 (0 of 0 USD used or reserved), ' +
        'c4 (0 of 1 USD used or reserved) and 1 more.',
    );
    expect(details.map(({ path }: { path: string }) => path)).toEqual([
      'racl_c1',
      'racl_c2',
      'racl_c4',
      'racl_c5',
    ]);
  });

  it('is reserved of block limits on amounts of its currency, for all usage or its metric, whatever the dimension', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const limits = [
      { key: 'd1' },
      { key: 'd2', selector: ['metric', 'llm.tokens'] as const },
      { key: 'd3', selector: ['metric_prefix', 'llm.'] as const },
      { key: 'd4', selector: ['metric', 'llm.calls'] as const },
      { key: 'd5', action: 'notify' as const },
      { key: 'd6', measure: 'quantity' as const },
      { key: 'd7', currency: 'EUR' },
      { key: 'd8', dimension: ['model', 'large'] as const },
    ];
    for (const limit of limits) await makeLimit(api, route, { ...limit, amount: '10' });
    const held = async () =>
      (await calls.reservedOf(subjectId)).filter(([, amount]) => amount !== '0').map(([id]) => id);
    const forAny = await calls.grant(subjectId, { amount: '1' });
    expect(await held()).toEqual(['racl_d1']);
    await calls.close(forAny.id);
    await calls.grant(subjectId, { amount: '1', metric: 'llm.tokens' });
    expect(await held()).toEqual(['racl_d1', 'racl_d2', 'racl_d3']);
  });

  it('carries over into the next window', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const ruleNo = await makeLimit(api, route, { key: 'e1', amount: '10', period: 'hour' });
    const hourS = TEST_NOW_S - (TEST_NOW_S % 3_600);
    await setUsed(api, ruleNo, { startS: hourS, limit: '10' }, '4', subjectId);
    await calls.grant(subjectId, { amount: '6', ttl_seconds: 7_200 });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(409);
    api.clock.advanceMs((hourS + 3_600) * 1_000 - api.clock.nowMs());
    expect(await calls.limitsOf(subjectId)).toMatchObject([{ used_amount: '0', reserved_amount: '6' }]);
    expect((await calls.ask(subjectId, { amount: '4.5' })).status).toBe(409);
    expect((await calls.ask(subjectId, { amount: '4' })).status).toBe(201);
  });

  it('gets no room from refunds, which the next window would not have', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const ruleNo = await makeLimit(api, route, { key: 'f1', amount: '10', period: 'lifetime' });
    await setUsed(api, ruleNo, { startS: 0, limit: '10' }, '-5', subjectId);
    expect((await calls.ask(subjectId, { amount: '11' })).status).toBe(409);
    expect((await calls.ask(subjectId, { amount: '10' })).status).toBe(201);
  });

  it('is granted, and held by nothing, where nothing limits the subject', async () => {
    const lease = await calls.grant('nobody', { amount: '1000000' });
    expect(lease).toMatchObject({
      account_id: null,
      status: 'active',
      remaining_amount: '1000000',
      warnings: [{ code: 'no_route', name: 'user nobody' }],
    });
    const { subjectId, route } = await calls.makeSubject();
    expect(await calls.grant(subjectId, { amount: '1000000' })).toMatchObject({
      account_id: route.accountId,
    });
    expect((await calls.close(lease.id)).json()).toMatchObject({ status: 'closed', remaining_amount: '0' });
  });

  it('expires at its time for every reader, and is given back when the job has run', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'g1', amount: '10' });
    const lease = await calls.grant(subjectId, { amount: '10', ttl_seconds: 1 });
    const closedInTime = await calls.grant('nobody', { amount: '1', ttl_seconds: 1 });
    await calls.close(closedInTime.id);
    await api.expiry.sweep();
    expect(await api.expiry.sweep()).toBe(0);
    api.clock.advanceMs(1_000);
    const { warnings: _, ...shown } = lease;
    const holds = shown.holds.map((hold: object) => ({ ...hold, remaining: '0' }));
    const ended = { remaining_amount: '0', holds, closed_at: lease.expires_at };
    const expired = { ...shown, status: 'expired', ...ended };
    expect((await calls.get(lease.id)).json()).toEqual(expired);
    api.clock.advanceMs(5_000);
    expect(await api.expiry.sweep()).toBeGreaterThan(0);
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_g1', '0']]);
    expect((await calls.get(lease.id)).json()).toEqual(expired);
    expect((await calls.close(lease.id)).json()).toEqual(expired);
    expect((await calls.get(closedInTime.id)).json()).toMatchObject({ status: 'closed' });
  });

  it('that is closed too late has expired', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'h1', amount: '10' });
    const lease = await calls.grant(subjectId, { amount: '10', ttl_seconds: 1 });
    api.clock.advanceMs(3_000);
    expect((await calls.close(lease.id)).json()).toMatchObject({
      status: 'expired',
      closed_at: lease.expires_at,
    });
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_h1', '0']]);
  });

  it('shows what came with it as used, and gives back only the rest', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const ruleNo = await makeLimit(api, route, { key: 'i1', amount: '10' });
    const lease = await calls.grant(subjectId, { amount: '5' });
    await calls.grant(subjectId, { amount: '1' });
    // Moves amounts as a worker does when it rates an event of the lease.
    await api.postgres.pool.query('update budget_leases set used = 2, held = 3 where id = $1', [lease.id]);
    await api.postgres.pool.query('update limit_reserved set reserved = 4 where rule_no = $1', [ruleNo]);
    expect((await calls.get(lease.id)).json()).toMatchObject({ used_amount: '2', remaining_amount: '3' });
    await calls.close(lease.id);
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_i1', '1']]);
  });
});

describe('a prepaid wallet', () => {
  it('holds the amount too, or refuses the lease', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'w1', amount: '100' });
    await setWallet(api, route, { balance: '3' });
    const lease = await calls.grant(subjectId, { amount: '2' });
    const refused = await calls.ask(subjectId, { amount: '1.5' });
    expect([refused.status, refused.json()]).toEqual([
      409,
      {
        error: `The prepaid wallet of ${route.accountId} has 1 USD available, less than the requested 1.5.`,
        code: 'insufficient_funds',
        details: [
          {
            path: 'amount',
            message: '1 USD available',
            account_id: route.accountId,
            currency: 'USD',
            available_amount: '1',
            asked_amount: '1.5',
          },
        ],
      },
    ]);
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_w1', '2']]);
    await calls.grant(subjectId, { amount: '1' });
    expect((await calls.ask(subjectId, { amount: '0.1' })).status).toBe(409);
    await calls.close(lease.id);
    await calls.grant(subjectId, { amount: '2', ttl_seconds: 1 });
    api.clock.advanceMs(1_000);
    await api.expiry.sweep();
    expect((await calls.ask(subjectId, { amount: '2.1' })).status).toBe(409);
    await calls.grant(subjectId, { amount: '2' });
  });

  it('is not asked for another currency, nor a postpaid one at all', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await setWallet(api, route, { balance: '0' });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(409);
    expect((await calls.ask(subjectId, { amount: '1', currency: 'EUR' })).status).toBe(201);
    await setWallet(api, route, { balance: '0', mode: 'postpaid' });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(201);
  });
});

describe('what is held', () => {
  it('is the same by leases, rules and wallets', async () => {
    const { leases, reserved, ofWalletLeases, ofWallets } = await holdings(api);
    expect(leases.length).toBeGreaterThan(3);
    expect(leases).toEqual(reserved);
    expect(Number(ofWalletLeases)).toBeGreaterThan(0);
    expect(ofWalletLeases).toBe(ofWallets);
  });
});
