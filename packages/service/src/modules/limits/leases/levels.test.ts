import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../platform/metrics/index.js';
import { everythingAdmitted } from '../../../testing/admission.js';
import { createRealtimeLimits } from '../check/realtime.js';
import {
  makeLimit,
  makeRoute,
  moveRoute,
  setUsed,
  setWallet,
  type TestLimits,
} from '../check/realtime.testing.js';
import { catalogSource } from '../rules/catalog-store.js';
import { LimitCatalog } from '../rules/index.js';
import { LeaseCalls, plainInput } from './lease-calls.testing.js';
import { recountReservations } from './recount-store.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

/** Creates a chain of subjects, each with a limit; the account of the first pays. Returns their routes. */
async function chainOf(amounts: Readonly<Record<string, string>>) {
  const made: { id: string; accountId: string; ruleNo: number }[] = [];
  let parentId: string | null = null;
  for (const [subjectId, amount] of Object.entries(amounts)) {
    const route = await makeRoute(api, { id: `ra_${subjectId}`, subjectId, parentId });
    const ruleNo = await makeLimit(api, route, { key: subjectId, amount, period: 'lifetime' });
    made.push({ ...route, ruleNo });
    parentId = subjectId;
  }
  return made;
}

const used = (ruleNo: number | undefined, subjectId: string, amount: string, limit: string) =>
  setUsed(api, ruleNo ?? 0, { startS: 0, limit }, amount, subjectId);

async function snapshot(subjectId: string, levels: string) {
  const query = `subject_type=user&subject_id=${subjectId}&levels=${levels}`;
  return (await api.call('GET', `${api.url}/subject/realtime/limits?${query}`)).json();
}

/** Returns subject and reserved amount of each limit of a subject. */
async function reserved(subjectId: string): Promise<string[]> {
  const { limits } = await snapshot(subjectId, 'all');
  return limits.map(
    (one: { subject_id: string; reserved_amount: string }) => `${one.subject_id} ${one.reserved_amount}`,
  );
}

const differences = async () => (await recountReservations(api.postgres, 10)).differences;

describe('the levels of a subject', () => {
  it('are shown on demand, each with its own subject and the account that pays for it', async () => {
    const [org] = await chainOf({ 'shown-org': '100', 'shown-team': '50', 'shown-user': '10' });
    const own = await snapshot('shown-user', 'own');
    expect(own).toMatchObject({
      account_id: org?.accountId,
      subject_id: 'shown-user',
      limits: [{ level: 0 }],
    });
    expect(own).toEqual(
      (
        await api.call('GET', `${api.url}/subject/realtime/limits?subject_type=user&subject_id=shown-user`)
      ).json(),
    );
    const { limits } = await snapshot('shown-user', 'all');
    expect(limits).toMatchObject([
      { level: 0, subject_id: 'shown-user', limit_amount: '10', rule_account_id: 'ra_shown-user' },
      { level: 1, subject_id: 'shown-team', limit_amount: '50', account_id: org?.accountId },
      { level: 2, subject_id: 'shown-org', limit_amount: '100', account_id: org?.accountId },
    ]);
    expect(
      (await api.call('GET', `${api.url}/subject/realtime/limits?subject_type=user&subject_id=x&levels=2`))
        .status,
    ).toBe(400);
  });

  it('are all asked by a check, and by a lease, which names every limit that blocks it', async () => {
    const [org, , user] = await chainOf({ 'asked-org': '100', 'asked-team': '50', 'asked-user': '10' });
    await used(org?.ruleNo, 'asked-org', '95', '100');
    await used(user?.ruleNo, 'asked-user', '1', '10');
    const check = async (amount: string) => {
      const body = { subject_type: 'user', subject_id: 'asked-user', amount, currency: 'USD' };
      const { allowed, blocked_by } = (
        await api.call('POST', `${api.url}/subject/realtime/check`, body)
      ).json();
      return [allowed, ...blocked_by.map((one: { level: number }) => one.level)];
    };
    expect(await check('5')).toEqual([true]);
    expect(await check('6')).toEqual([false, 2]);
    expect(await check('10')).toEqual([false, 0, 2]);
    expect(await check('60')).toEqual([false, 0, 1, 2]);
    const refused = await calls.ask('asked-user', { amount: '10' });
    expect(refused.status).toBe(409);
    const detail = {
      plan_id: null,
      subject_type: 'user',
      account_id: org?.accountId,
      reserved_amount: '0',
      asked_amount: '10',
    };
    expect(refused.json()).toMatchObject({
      code: 'limit_exceeded',
      details: [
        {
          ...detail,
          limit_key: 'asked-user',
          level: 0,
          subject_id: 'asked-user',
          limit_amount: '10',
          used_amount: '1',
        },
        {
          ...detail,
          limit_key: 'asked-org',
          level: 2,
          subject_id: 'asked-org',
          limit_amount: '100',
          used_amount: '95',
        },
      ],
    });
    expect(await reserved('asked-user')).toEqual(['asked-user 0', 'asked-team 0', 'asked-org 0']);
  });

  it('hold a lease together, until it is closed or expires, and with the wallet of the nearest account', async () => {
    const [org] = await chainOf({ 'held-org': '100', 'held-team': '50', 'held-user': '10' });
    await setWallet(api, { accountId: org?.accountId ?? '' }, { balance: '20' });
    const lease = await calls.grant('held-user', { amount: '8', ttl_seconds: 600 });
    expect(lease.account_id).toBe(org?.accountId);
    const short = await calls.grant('held-team', { amount: '11' });
    expect(await reserved('held-user')).toEqual(['held-user 8', 'held-team 19', 'held-org 19']);
    expect((await calls.ask('held-user', { amount: '2' })).json()).toMatchObject({
      code: 'insufficient_funds',
    });
    expect(await differences()).toEqual([]);
    api.clock.advanceMs(60_000);
    await api.expiry.sweep();
    expect((await calls.get(short.id)).json().status).toBe('expired');
    expect(await reserved('held-user')).toEqual(['held-user 8', 'held-team 8', 'held-org 8']);
    await calls.close(lease.id);
    expect(await reserved('held-user')).toEqual(['held-user 0', 'held-team 0', 'held-org 0']);
    expect(await differences()).toEqual([]);
  });

  it('hold an active lease where it was opened, whatever is above the subject later', async () => {
    await chainOf({ 'first-org': '100' });
    await chainOf({ 'next-org': '100' });
    const route = await makeRoute(api, { id: 'ra_moved', subjectId: 'moved', parentId: 'first-org' });
    const lease = await calls.grant('moved', { amount: '3' });
    await moveRoute(api, route, 'next-org');
    await calls.grant('moved', { amount: '4' });
    expect(await reserved('first-org')).toEqual(['first-org 3']);
    expect(await reserved('next-org')).toEqual(['next-org 4']);
    await calls.close(lease.id);
    expect(await reserved('first-org')).toEqual(['first-org 0']);
    expect(await differences()).toEqual([]);
  });

  it('are never exceeded by leases of siblings at once, on several nodes, which share transactions', async () => {
    await chainOf({ 'hot-org': '25' });
    const siblings = Array.from({ length: 20 }, (_, index) => `hot-${index}`);
    for (const subjectId of siblings) {
      const route = await makeRoute(api, { id: `ra_${subjectId}`, subjectId, parentId: 'hot-org' });
      await makeLimit(api, route, { key: subjectId, amount: '10', period: 'lifetime' });
    }
    const { postgres, clock } = api;
    const catalog = new LimitCatalog({ source: catalogSource, freshMs: 0 });
    const deps = { postgres, clock, metrics: createMetrics(), catalog, admission: everythingAdmitted };
    const nodes = [api.leases, createRealtimeLimits(deps).leases];
    const { rows } = await postgres.pool.query('select no from projects where id = $1', [api.projectId]);
    const { tenantId, projectId } = api;
    const projectNo = Number(rows[0].no);
    const project = { tenantId, projectId, projectNo, kind: 'release', storage: 'shared' } as const;
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    const ask = (subjectId: string, amount: bigint, node: number) => {
      const input = plainInput({ type: 'user', id: subjectId }, amount, { ttlSeconds: 600 });
      return nodes[node % 2]?.create(project, input, undefined);
    };
    const one = 10n ** 18n;
    const outcomes = await Promise.allSettled(
      siblings.flatMap((subjectId, at) => [
        ask(subjectId, one, at),
        ask(subjectId, one, at + 1),
        ask(subjectId, one, at),
      ]),
    );
    const locks = spy.mock.calls.filter(([query]) =>
      ((query as unknown as { text?: string })?.text ?? String(query)).includes('insert into limit_reserved'),
    );
    spy.mockRestore();
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(25);
    const [first = ''] = await reserved('hot-org');
    expect(first).toBe('hot-org 25');
    expect(locks.length).toBeLessThan(outcomes.length / 3);
    expect(await differences()).toEqual([]);
  });
});
