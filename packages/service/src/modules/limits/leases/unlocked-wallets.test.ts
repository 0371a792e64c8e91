import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRef } from '../../../kernel/scope.js';
import { usageItem } from '../../../testing/index.js';
import { makeLimit, setWallet, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls, plainInput } from './lease-calls.testing.js';
import { leasesOfNode, statementsOf } from './unlocked.testing.js';

const ONE = 10n ** 18n;

let calls: LeaseCalls;
let api: TestLimits;
let project: ProjectRef;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  project = await calls.project();
});
afterAll(() => api.close());

/** A subject with a limit that has room, and a wallet. */
async function payer(wallet: { readonly balance: string; readonly mode?: 'prepaid' | 'postpaid' }) {
  const { subjectId, route } = await calls.makeSubject();
  await makeLimit(api, route, { key: subjectId, amount: '1000', period: 'lifetime' });
  await setWallet(api, route, { ...wallet, mode: 'postpaid' });
  await calls.grant(subjectId, { amount: '1' });
  await setWallet(api, route, wallet);
  const input = (amount: bigint) =>
    plainInput({ type: 'user', id: subjectId }, amount * ONE, { ttlSeconds: 60 });
  const held = async () => {
    const { rows } = await api.postgres.pool.query(
      'select trim_scale(reserved)::text as reserved from wallets where account_id = $1',
      [route.accountId],
    );
    return rows[0].reserved as string;
  };
  return { subjectId, route, input, held };
}

const use = (subjectId: string, amount: bigint) =>
  calls.use([{ subject: { type: 'user', id: subjectId }, items: [usageItem({ amount: amount * ONE })] }]);

describe('a prepaid wallet', () => {
  it('holds and releases a lease without a lock', async () => {
    const { input, held } = await payer({ balance: '10' });
    let id = '';
    const granted = await statementsOf(
      api,
      async () => ({ id } = await api.leases.create(project, input(4n), undefined)),
    );
    expect(granted).toEqual(expect.arrayContaining(['wallets-found', 'leases-unlocked-holds']));
    expect(granted).not.toContain('begin');
    expect(await held()).toBe('4');
    await expect(api.leases.create(project, input(7n), undefined)).rejects.toMatchObject({
      code: 'insufficient_funds',
      details: [{ available_amount: '6', asked_amount: '7' }],
    });
    const closed = await statementsOf(api, () => api.leases.close(project, id));
    expect(closed).toContain('leases-unlocked-changed-holds');
    expect(closed).not.toContain('begin');
    expect(await held()).toBe('0');
    expect(await calls.differences()).toEqual([]);
  });

  it('holds nothing that usage has taken meanwhile', async () => {
    const { subjectId, input, held } = await payer({ balance: '10' });
    const node = leasesOfNode(api, 'wallets-found', () => use(subjectId, 5n));
    await expect(node.create(project, input(6n), undefined)).rejects.toMatchObject({
      code: 'insufficient_funds',
      details: [{ available_amount: '5' }],
    });
    expect(await held()).toBe('0');
    const smaller = leasesOfNode(api, 'wallets-found', () => use(subjectId, 1n));
    expect(await smaller.create(project, input(4n), undefined)).toMatchObject({ amount: '4' });
    expect(await held()).toBe('4');
  });

  it('holds nothing that another process holds meanwhile for a subject without limits', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await setWallet(api, route, { balance: '10' });
    const input = plainInput({ type: 'user', id: subjectId }, 6n * ONE, { ttlSeconds: 60 });
    const node = leasesOfNode(api, 'wallets-found', () => calls.grant(subjectId, { amount: '6' }));
    await expect(node.create(project, input, undefined)).rejects.toMatchObject({
      code: 'insufficient_funds',
      details: [{ available_amount: '4' }],
    });
    expect(await calls.differences()).toEqual([]);
  });

  it('must hold what is granted when it became prepaid meanwhile', async () => {
    const { route, input, held } = await payer({ balance: '0', mode: 'postpaid' });
    const node = leasesOfNode(api, 'limits-usage', () => setWallet(api, route, { balance: '3' }));
    expect(await node.create(project, input(2n), undefined)).toMatchObject({ amount: '2' });
    expect(await held()).toBe('2');
    await expect(node.create(project, input(2n), undefined)).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    expect(await calls.differences()).toEqual([]);
  });

  it('need not hold what is granted when it became postpaid meanwhile, and releases what it held', async () => {
    const { route, input, held } = await payer({ balance: '10' });
    const { id } = await api.leases.create(project, input(4n), undefined);
    const toPostpaid = () => setWallet(api, route, { balance: '10', mode: 'postpaid' });
    const node = leasesOfNode(api, 'wallets-found', toPostpaid);
    await node.create(project, input(3n), undefined);
    expect(await held()).toBe('4');
    const closed = await statementsOf(api, () => api.leases.close(project, id));
    expect(closed).not.toContain('begin');
    expect(await held()).toBe('0');
    expect(await calls.differences()).toEqual([]);
  });
});
