import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRef } from '../../../kernel/scope.js';
import { makeLimit, makeRoute, setWallet, type TestLimits } from '../check/realtime.testing.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { decideLeaseRequests } from './group.js';
import { LeaseCalls } from './lease-calls.testing.js';
import { Leases } from './leases.js';
import { statementsOf } from './unlocked.testing.js';

const BELOW_MAX = 4;

let calls: LeaseCalls;
let api: TestLimits;
let project: ProjectRef;
/** Ends so few leases in one transaction. */
let leases: Leases;
let limits: SubjectLimits;
let teams = 0;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  project = await calls.project();
  const { postgres, clock } = api;
  limits = calls.subjectLimits();
  leases = new Leases({ postgres, clock, limits, belowMax: BELOW_MAX });
});
afterAll(() => api.close());

/** A lease of a team of 40, with a part of 30 that has six parts of 2 of a user, each with two parts of 1. */
async function makeTree() {
  teams += 1;
  const [team, user] = [`many${teams}`, `member${teams}`];
  const route = await makeRoute(api, { id: `ra_${team}`, subjectId: team });
  await makeLimit(api, route, { key: team, amount: '100', period: 'lifetime' });
  await setWallet(api, route, { balance: '100' });
  const below = await makeRoute(api, { id: `ra_${user}`, subjectId: user, parentId: team });
  await makeLimit(api, below, { key: user, amount: '50', period: 'lifetime' });
  const top = await calls.grant(team, { amount: '40' });
  const middle = await calls.grant(team, { amount: '30', parent_lease_id: top.id });
  const ids: string[] = [];
  for (let part = 0; part < 6; part += 1) {
    const { id } = await calls.grant(user, { amount: '2', parent_lease_id: middle.id });
    const low = [0, 1].map(() => calls.grant(user, { amount: '1', parent_lease_id: id }));
    ids.push(id, ...(await Promise.all(low)).map((one) => one.id));
  }
  const reserved = async () =>
    (await Promise.all([team, user].map((id) => calls.reservedOf(id)))).map((of) => of[0]?.[1]);
  return { top: top.id as string, middle: middle.id as string, ids, reserved };
}

const leasesOf = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await calls.get(id)).json()));

it('ends any number of leases below one, a bounded number in each transaction', async () => {
  const { top, middle, ids, reserved } = await makeTree();
  expect(await reserved()).toEqual(['40', '12']);
  const statements = await statementsOf(api, async () => {
    expect(await leases.close(project, top)).toMatchObject({ status: 'closed', remaining_amount: '0' });
  });
  expect(statements.filter((statement) => statement === 'begin')).toHaveLength(
    Math.floor((1 + ids.length) / BELOW_MAX) + 1,
  );
  const ended = { status: 'closed', remaining_amount: '0' };
  expect(await leasesOf([middle, ...ids])).toMatchObject([middle, ...ids].map(() => ended));
  expect(await reserved()).toEqual(['0', '0']);
  expect(await calls.differences()).toEqual([]);
});

it('gives back to the parent what all of them held', async () => {
  const { top, middle, ids, reserved } = await makeTree();
  expect(await leases.close(project, middle)).toMatchObject({ status: 'closed' });
  expect(await leasesOf([top])).toMatchObject([{ status: 'active', remaining_amount: '40' }]);
  expect((await leasesOf(ids)).map(({ status }) => status)).toEqual(ids.map(() => 'closed'));
  expect(await reserved()).toEqual(['40', '0']);
  expect(await calls.differences()).toEqual([]);
});

it('shortens the lives of all leases below one, and of no others', async () => {
  const { top, middle, ids } = await makeTree();
  const [before] = await leasesOf([top]);
  const { expires_at: end } = await leases.renew(project, middle, 5);
  expect(end).toBeLessThan(before.expires_at);
  expect((await leasesOf([middle, ...ids])).map((lease) => lease.expires_at)).toEqual(
    [middle, ...ids].map(() => end),
  );
  await leases.renew(project, middle, 30);
  expect((await leasesOf([top, ...ids])).map((lease) => lease.expires_at)).toEqual([
    before.expires_at,
    ...ids.map(() => end),
  ]);
});

it('shortens only lives that have not ended before in the same group', async () => {
  const { top, middle, ids } = await makeTree();
  const before = await leasesOf([middle, ...ids]);
  const { postgres, clock } = api;
  await decideLeaseRequests({ postgres, clock, limits }, project, [
    { do: 'close', id: middle, ancestorIds: [top] },
    { do: 'renew', id: top, ancestorIds: [], ttlSeconds: 5 },
  ]);
  expect(await leasesOf([middle, ...ids])).toMatchObject(
    before.map(({ expires_at }) => ({ status: 'closed', expires_at })),
  );
  expect(await calls.differences()).toEqual([]);
});
