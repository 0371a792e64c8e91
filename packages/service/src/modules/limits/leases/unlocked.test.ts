import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { present } from '../../../kernel/present.js';
import { usageItem } from '../../../testing/index.js';
import { makeLimit, makeRoute, setWallet, type TestLimits } from '../check/realtime.testing.js';
import { subjectNumber } from '../rules/route-rules.js';
import { decideLeaseRequests } from './group.js';
import { LeaseCalls, plainInput } from './lease-calls.testing.js';
import type { LeaseRequest } from './request-rules.js';
import { findLeases } from './store.js';
import { leasesOfNode, statementsOf } from './unlocked.testing.js';

const ONE = 10n ** 18n;

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

/** Another process, in which something happens each time after it has run a prepared statement of this name. */
const nodeWith = (statement: string, happens: () => Promise<unknown>) =>
  leasesOfNode(api, statement, happens);

/** A subject of whose one limit, of 10 USD, something is reserved. */
async function subjectWith({ reserved }: { readonly reserved: string }) {
  const { subjectId, route } = await calls.makeSubject();
  await makeLimit(api, route, { key: subjectId, amount: '10', period: 'lifetime' });
  const lease = await calls.grant(subjectId, { amount: reserved });
  return { subjectId, route, leaseId: lease.id as string };
}

const inputOf = (id: string, amount: bigint) =>
  plainInput({ type: 'user', id }, amount * ONE, { ttlSeconds: 60 });

const use = (subjectId: string, budgetLeaseId: string, amount: bigint) =>
  calls.use([
    { subject: { type: 'user', id: subjectId }, items: [usageItem({ amount: amount * ONE })], budgetLeaseId },
  ]);

/** Whether it is the name of a prepared statement of limits, leases or wallets. */
const isPrepared = (name: string) => name.includes('-');

describe('a lease that is decided without a lock', () => {
  it('is decided again when another process reserves meanwhile', async () => {
    const { subjectId } = await subjectWith({ reserved: '1' });
    const project = await calls.project();
    const node = nodeWith('limits-usage', () => calls.grant(subjectId, { amount: '6' }));
    await expect(node.create(project, inputOf(subjectId, 4n), undefined)).rejects.toMatchObject({
      code: 'limit_exceeded',
      details: [{ reserved_amount: '7', asked_amount: '4' }],
    });
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '7']]);
    const smaller = nodeWith('limits-usage', () => calls.grant(subjectId, { amount: '1' }));
    expect(await smaller.create(project, inputOf(subjectId, 2n), undefined)).toMatchObject({ amount: '2' });
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '10']]);
    expect(await calls.differences()).toEqual([]);
  });

  it('is decided again when the same amount is reserved as before, and more is used', async () => {
    const { subjectId, leaseId } = await subjectWith({ reserved: '5' });
    const node = nodeWith('limits-usage', async () => {
      await use(subjectId, leaseId, 3n);
      await calls.grant(subjectId, { amount: '3' });
      expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '5']]);
    });
    const asked = node.create(await calls.project(), inputOf(subjectId, 5n), undefined);
    await expect(asked).rejects.toMatchObject({
      code: 'limit_exceeded',
      details: [{ used_amount: '3', reserved_amount: '5' }],
    });
    expect(await calls.differences()).toEqual([]);
  });

  it('releases what it still holds when it is charged meanwhile', async () => {
    const { subjectId, leaseId } = await subjectWith({ reserved: '5' });
    const node = nodeWith('leases-found', () => use(subjectId, leaseId, 3n));
    const closed = await node.close(await calls.project(), leaseId);
    expect(closed).toMatchObject({ status: 'closed', used_amount: '3', remaining_amount: '0' });
    expect((await calls.get(leaseId)).json()).toEqual(closed);
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '0']]);
  });

  it('is closed or renewed once, whoever comes first', async () => {
    const { subjectId, leaseId } = await subjectWith({ reserved: '5' });
    const project = await calls.project();
    const renewing = nodeWith('leases-found', () => calls.close(leaseId));
    await expect(renewing.renew(project, leaseId, 60)).rejects.toMatchObject({ code: 'lease_not_active' });
    const { id } = await calls.grant(subjectId, { amount: '5' });
    const closing = nodeWith('leases-found', () => calls.renew(id, 90));
    expect(await closing.close(project, id)).toMatchObject({
      status: 'closed',
      expires_at: Math.floor(api.clock.nowMs() / 1_000) + 90,
    });
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '0']]);
  });

  it('takes a read and a statement together with others', async () => {
    const { subjectId } = await subjectWith({ reserved: '1' });
    const { postgres, clock } = api;
    const project = await calls.project();
    const limits = calls.subjectLimits();
    const decide = (requests: readonly LeaseRequest[]) =>
      decideLeaseRequests({ postgres, clock, limits }, project, requests);
    const input = inputOf(subjectId, 1n);
    const grant = { do: 'grant', input, parent: undefined, key: undefined, asked: [] } as const;
    const granted = await statementsOf(api, () => decide([grant, grant, grant]));
    const once = ['leases-unlocked', 'limits-usage'];
    expect(granted.filter(isPrepared).sort()).toEqual(once);
    expect(granted).not.toContain('begin');
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '4']]);
    const { rows } = await postgres.pool.query('select id from budget_leases where subject_id = $1', [
      subjectId,
    ]);
    const found = await findLeases(
      postgres,
      rows.map(({ id }) => ({ ...project, id })),
    );
    const closes = found.map((one): LeaseRequest => {
      const { id } = present(one, 'a lease').lease;
      return { do: 'close', id, ancestorIds: [], found: one };
    });
    expect((await statementsOf(api, () => decide(closes))).filter(isPrepared)).toEqual([
      'leases-unlocked-changed',
    ]);
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '0']]);
    expect(await calls.differences()).toEqual([]);
  });

  it('is not one of a rule that nothing was reserved of, or of a wallet with an expired credit', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: subjectId, amount: '10', period: 'lifetime' });
    const project = await calls.project();
    const ask = () => api.leases.create(project, inputOf(subjectId, 1n), undefined);
    expect(await statementsOf(api, ask)).toContain('begin');
    expect(await statementsOf(api, ask)).not.toContain('begin');
    await setWallet(api, route, { balance: '1' });
    await api.postgres.pool.query('update wallets set next_expiry_at = $1 where account_id = $2', [
      Math.floor(api.clock.nowMs() / 1_000),
      route.accountId,
    ]);
    expect(await statementsOf(api, ask)).toContain('begin');
    await expect(ask()).rejects.toMatchObject({ code: 'insufficient_funds' });
    expect(await calls.differences()).toEqual([]);
  });

  it('locks nothing that it does not need when all limits are full', async () => {
    const { subjectId } = await subjectWith({ reserved: '10' });
    const refused = await statementsOf(api, async () => {
      expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(409);
    });
    expect(refused).toContain('limits-usage');
    expect(refused).not.toContain('leases-unlocked');
    expect(refused).not.toContain('begin');
  });

  it('notes the subjects of all levels whose reserved amounts it changes, and no others', async () => {
    const top = await makeRoute(api, { id: 'ra_n_top', subjectId: 'n-top' });
    const low = await makeRoute(api, { id: 'ra_n_low', subjectId: 'n-low', parentId: 'n-top' });
    await makeLimit(api, top, { key: 'n-top', amount: '5', period: 'lifetime' });
    await makeLimit(api, low, { key: 'n-low', amount: '9', period: 'lifetime' });
    await calls.grant('n-low', { amount: '1' });
    const { projectNo } = await calls.project();
    const keys = ['n-low', 'n-top'].map((id) => subjectNumber(projectNo, { type: 'user', id })).sort();
    const notedBy = async (work: () => Promise<unknown>) => {
      await api.postgres.pool.query('delete from key_changes');
      expect(await statementsOf(api, work)).not.toContain('begin');
      const { rows } = await api.postgres.pool.query<{ keys: number[] }>('select keys from key_changes');
      return rows.map((row) => row.keys.sort());
    };
    let id = '';
    expect(await notedBy(async () => ({ id } = await calls.grant('n-low', { amount: '1' })))).toEqual([keys]);
    expect(await notedBy(() => calls.renew(id, 90))).toEqual([]);
    expect(await notedBy(() => calls.close(id))).toEqual([keys]);
    expect(await notedBy(() => calls.ask('n-low', { amount: '9' }))).toEqual([]);
  });

  it('reserves of every level together, or of none', async () => {
    const top = await makeRoute(api, { id: 'ra_u_top', subjectId: 'u-top' });
    const low = await makeRoute(api, { id: 'ra_u_low', subjectId: 'u-low', parentId: 'u-top' });
    await makeLimit(api, top, { key: 'u-top', amount: '5', period: 'lifetime' });
    await makeLimit(api, low, { key: 'u-low', amount: '9', period: 'lifetime' });
    await calls.grant('u-low', { amount: '1' });
    const node = nodeWith('limits-usage', () => calls.grant('u-top', { amount: '3' }));
    await expect(node.create(await calls.project(), inputOf('u-low', 2n), undefined)).rejects.toMatchObject({
      code: 'limit_exceeded',
      details: [{ limit_key: 'u-top' }],
    });
    expect(await calls.reservedOf('u-top')).toEqual([['racl_u-top', '4']]);
    expect(await calls.reservedOf('u-low')).toEqual([['racl_u-low', '1']]);
    expect(await calls.differences()).toEqual([]);
  });
});
