import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { stored, usageItem, waitFor } from '../../../testing/index.js';
import { makeLimit, makeRoute, setWallet, type TestLimits } from '../check/realtime.testing.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { decideLeaseRequests } from './group.js';
import type { LeaseInput } from './lease.js';
import { LeaseCalls, plainInput } from './lease-calls.testing.js';
import type { LeaseRequest } from './request-rules.js';
import { findLeases } from './store.js';
import type { WrittenGroup } from './unlocked.js';
import { leasesOfNode, statementsOf, untilRead } from './unlocked.testing.js';

const ONE = 10n ** 18n;

let calls: LeaseCalls;
let api: TestLimits;
let project: ProjectRef;
let limits: SubjectLimits;
let teams = 0;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  project = await calls.project();
  limits = calls.subjectLimits();
});
afterAll(() => api.close());

/** A team with a limit of 100 and a lease of 10, and a user below it with a limit of 50, of which 1 is reserved. */
async function makeTeam({ mode = 'prepaid' }: { readonly mode?: 'prepaid' | 'postpaid' } = {}) {
  teams += 1;
  const [team, user] = [`cut${teams}`, `slice${teams}`];
  const route = await makeRoute(api, { id: `ra_${team}`, subjectId: team });
  await makeLimit(api, route, { key: team, amount: '100', period: 'lifetime' });
  await setWallet(api, route, { balance: '100', mode });
  const below = await makeRoute(api, { id: `ra_${user}`, subjectId: user, parentId: team });
  await makeLimit(api, below, { key: user, amount: '50', period: 'lifetime' });
  await calls.grant(user, { amount: '1' });
  const top: string = (await calls.grant(team, { amount: '10', ttl_seconds: 100 })).id;
  return { team, user, route, top };
}

const partInput = (subjectId: string, parentId: string, amount: bigint) => ({
  ...plainInput({ type: 'user', id: subjectId }, amount * ONE, { ttlSeconds: 60 }),
  parentId,
});

const part = (subjectId: string, parentId: string, amount: bigint, leases = api.leases) =>
  leases.create(project, partInput(subjectId, parentId, amount), undefined);

const partId = async (...asked: Parameters<typeof part>) => (await part(...asked)).id;

const shown = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await calls.get(id)).json()));

async function remaining(...ids: string[]): Promise<string[]> {
  return (await shown(ids)).map((lease) => lease.remaining_amount);
}

const use = (subjectId: string, budgetLeaseId: string, amount: string) =>
  calls.use([
    {
      subject: { type: 'user', id: subjectId },
      items: [usageItem({ amount: stored(amount) })],
      budgetLeaseId,
    },
  ]);

/** Another process, in which something happens after a group has found the parents of its leases. */
function nodeWith(happens: () => Promise<unknown>) {
  let found = 0;
  return leasesOfNode(api, 'leases-found', async () => {
    found += 1;
    // The first search finds the lease that the request names.
    if (found === 2) await happens();
  });
}

function grantOf(input: LeaseInput) {
  return { do: 'grant', input, parent: undefined, key: undefined, asked: [] } as const;
}

async function decide(
  requests: readonly LeaseRequest[],
  postgres = api.postgres,
  before?: Promise<WrittenGroup | undefined>,
) {
  const deps = { postgres, clock: api.clock, limits };
  const { results, left } = await decideLeaseRequests(deps, project, requests, before);
  return { outcomes: results.map((result) => ('error' in result ? result.error : result.answer)), left };
}

/** Decides requests whose leases are found before the group before writes its own. */
async function decideAhead(requests: readonly LeaseRequest[], before: readonly LeaseRequest[]) {
  const { postgres, isRead } = untilRead(api, 'leases-found');
  const left = isRead.then(async () => (await decide(before)).left);
  return (await decide(requests, postgres, left)).outcomes;
}

describe('a part of a lease that is decided without a lock', () => {
  it('is taken, renewed and given back, at every depth', async () => {
    const { team, user, top } = await makeTeam();
    const middle = await partId(team, top, 8n);
    let low = '';
    const taken = await statementsOf(api, async () => {
      low = await partId(user, middle, 3n);
    });
    expect(taken).not.toContain('begin');
    expect(taken.filter((name) => name.startsWith('leases-'))).toEqual([
      'leases-found',
      'leases-found',
      'leases-unlocked-changed',
    ]);
    expect(await remaining(top, middle, low)).toEqual(['2', '5', '3']);
    expect(await calls.reservedOf(user)).toEqual([[`racl_${user}`, '4']]);
    const { leases } = api;
    const renewed = await statementsOf(api, async () => {
      const { expires_at: end } = await leases.renew(project, low, 600);
      expect((await shown([top])).map(({ expires_at }) => expires_at)).toEqual([end + 40]);
    });
    const closed = await statementsOf(api, () => leases.close(project, low));
    for (const statements of [renewed, closed]) {
      expect(statements).toContain('leases-unlocked-changed');
      expect(statements).not.toContain('begin');
    }
    expect(await remaining(top, middle, low)).toEqual(['2', '8', '0']);
    expect(await calls.differences()).toEqual([]);
  });

  it('takes one statement together with others, and is known to its parent', async () => {
    const { team, top } = await makeTeam();
    const parent = present((await findLeases(api.postgres, [{ ...project, id: top }]))[0], 'a lease').lease;
    const request = { ...grantOf(partInput(team, top, 4n)), parent };
    const statements = await statementsOf(api, async () => {
      const { outcomes } = await decide([request, request, request]);
      expect(outcomes).toMatchObject([{ amount: '4' }, { amount: '4' }, { code: 'lease_exceeded' }]);
    });
    expect(statements.filter((name) => name.includes('-'))).toEqual([
      'leases-found',
      'leases-unlocked-changed',
    ]);
    expect(statements).not.toContain('begin');
    const { rows } = await api.postgres.pool.query(
      'select id from budget_leases where $1 = any(ancestor_ids)',
      [top],
    );
    await calls.close(top);
    const ids = rows.map(({ id }) => id as string);
    expect(await shown([top, ...ids])).toMatchObject([1, 2, 3].map(() => ({ status: 'closed' })));
    expect(await calls.reservedOf(team)).toEqual([[`racl_${team}`, '1']]);
    expect(await calls.differences()).toEqual([]);
  });

  it('is held as its parent is, whatever has become of the wallet', async () => {
    const { team, route, top } = await makeTeam({ mode: 'postpaid' });
    await setWallet(api, route, { balance: '100', mode: 'prepaid' });
    expect(await statementsOf(api, () => part(team, top, 4n))).not.toContain('begin');
    expect(await calls.differences()).toEqual([]);
  });

  it('is decided again when another process takes a part meanwhile', async () => {
    const { team, top } = await makeTeam();
    const node = nodeWith(() => part(team, top, 6n));
    await expect(part(team, top, 5n, node)).rejects.toMatchObject({
      code: 'lease_exceeded',
      details: [{ available_amount: '4', asked_amount: '5' }],
    });
    const other = nodeWith(() => part(team, top, 2n));
    expect(await part(team, top, 2n, other)).toMatchObject({ status: 'active' });
    expect(await remaining(top)).toEqual(['0']);
    expect(await calls.differences()).toEqual([]);
  });

  it('is not taken of a lease that has ended meanwhile, and is cut where that is shortened', async () => {
    const { team, top } = await makeTeam();
    const shortening = nodeWith(() => calls.renew(top, 20));
    const { expires_at: end } = await part(team, top, 1n, shortening);
    expect((await shown([top])).map(({ expires_at }) => expires_at)).toEqual([end]);
    const closing = nodeWith(() => calls.close(top));
    await expect(part(team, top, 1n, closing)).rejects.toMatchObject({ code: 'lease_not_active' });
    const expiring = await makeTeam();
    const late = nodeWith(async () => {
      api.clock.advanceMs(100_000);
      await api.expiry.sweep();
    });
    await expect(part(expiring.team, expiring.top, 1n, late)).rejects.toMatchObject({
      code: 'lease_not_active',
    });
    expect(await calls.differences()).toEqual([]);
  });

  it('is taken of what charges have left meanwhile, and gives back what they have', async () => {
    const { team, top } = await makeTeam();
    const charging = nodeWith(() => use(team, top, '3'));
    await expect(part(team, top, 8n, charging)).rejects.toMatchObject({
      details: [{ available_amount: '7' }],
    });
    const low = await partId(team, top, 4n);
    const closing = nodeWith(() => use(team, low, '1'));
    expect(await closing.close(project, low)).toMatchObject({ status: 'closed', used_amount: '1' });
    expect(await remaining(top)).toEqual(['6']);
    expect(await calls.differences()).toEqual([]);
  });

  it('waits for a process that has locked the root of its tree', async () => {
    const { team, user, top } = await makeTeam();
    const middle = await partId(team, top, 8n);
    const other = await api.postgres.pool.connect();
    try {
      await other.query('begin');
      await other.query('select from budget_leases where id = $1 for update', [top]);
      const asked = part(user, middle, 2n);
      const waits =
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await waitFor(async () => (await api.postgres.pool.query(waits)).rowCount === 1, { what: 'a lock' });
      await other.query('commit');
      expect(await asked).toMatchObject({ status: 'active' });
    } finally {
      other.release();
    }
    expect(await calls.differences()).toEqual([]);
  });
});

describe('a group of parts that is read while the one before it writes', () => {
  it('takes of what that one has left, without a lock', async () => {
    const { team, top } = await makeTeam();
    const parent = present((await findLeases(api.postgres, [{ ...project, id: top }]))[0], 'a lease').lease;
    const asks = (amount: bigint) => ({ ...grantOf(partInput(team, top, amount)), parent });
    const statements = await statementsOf(api, async () => {
      const outcomes = await decideAhead([asks(5n), asks(4n)], [asks(6n)]);
      expect(outcomes).toMatchObject([{ details: [{ available_amount: '4' }] }, { amount: '4' }]);
    });
    expect(statements).not.toContain('begin');
    expect(await remaining(top)).toEqual(['0']);
    expect(await calls.differences()).toEqual([]);
  });

  it('ends a part that the one before it has added to a lease', async () => {
    const { team, top } = await makeTeam();
    const middle = await partId(team, top, 8n);
    const [found] = await findLeases(api.postgres, [{ ...project, id: middle }]);
    const { lease } = present(found, 'a lease');
    const close: LeaseRequest = { do: 'close', id: middle, ancestorIds: lease.ancestorIds, found };
    const asks = { ...grantOf(partInput(team, middle, 3n)), parent: lease };
    expect(await decideAhead([close], [asks])).toMatchObject([{ status: 'closed', remaining_amount: '0' }]);
    expect(await remaining(top)).toEqual(['10']);
    const { rows } = await api.postgres.pool.query(
      "select 1 from budget_leases where $1 = any(ancestor_ids) and status = 'active'",
      [middle],
    );
    expect(rows).toEqual([]);
    expect(await calls.differences()).toEqual([]);
  });
});

it('never takes more of a lease than it holds, from two processes, beside usage and ends', async () => {
  const { team, user, top } = await makeTeam();
  const nodes = [api.leases, leasesOfNode(api, 'none', async () => {})];
  const on = (at: number) => present(nodes[at % 2], 'a process');
  const middle = await partId(team, top, 6n);
  const asked = Array.from({ length: 30 }, (_, at) => at);
  const outcomes = await Promise.allSettled(
    asked.map((at) => (at % 3 === 0 ? part(team, top, 1n, on(at)) : part(user, middle, 1n, on(at)))),
  );
  const granted = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value.id : []));
  expect(granted).toHaveLength(10);
  expect(await remaining(top, middle)).toEqual(['0', '0']);
  expect(await calls.reservedOf(team)).toEqual([[`racl_${team}`, '11']]);
  await Promise.all([
    ...granted.slice(0, 4).map((id, at) => on(at).close(project, id)),
    ...granted.slice(4, 6).map((id) => use(user, id, '0.5')),
    ...asked.slice(0, 6).map((at) => part(user, middle, 1n, on(at)).catch(() => undefined)),
    api.expiry.sweep(),
  ]);
  expect(await calls.differences()).toEqual([]);
  await Promise.all([
    on(0).close(project, top),
    ...asked.slice(0, 8).map((at) => part(user, middle, 1n, on(at)).catch(() => undefined)),
  ]);
  expect(await calls.reservedOf(team)).toEqual([[`racl_${team}`, '1']]);
  expect(await calls.differences()).toEqual([]);
});
