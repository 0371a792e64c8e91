import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeRoute, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  await makeRoute(api, { id: 'ra_team', subjectId: 'team' });
  await makeRoute(api, { id: 'ra_user', subjectId: 'user', parentId: 'team' });
});
afterAll(() => api.close());

async function part(subjectId: string, parentId: string, amount: string, ttlSeconds = 60): Promise<string> {
  const asked = { parent_lease_id: parentId, amount, ttl_seconds: ttlSeconds };
  return (await calls.grant(subjectId, asked)).id;
}

async function treeOf(id: string, query = '') {
  const answer = await api.call('GET', `${api.url}/budget-leases/${id}/tree${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const { budget_leases: leases, total_count: total } = answer.json();
  const rows = leases.map((lease: Record<string, string>) => [lease.id, lease.remaining_amount]);
  return { rows, total, leases };
}

it('lists all active leases of a tree from every one of them, each after its parent', async () => {
  const top = (await calls.grant('team', { amount: '40' })).id;
  const left = await part('team', top, '10');
  const right = await part('user', top, '8');
  const low = await part('user', left, '4');
  await calls.grant('team', { amount: '1' });
  const rows = [
    [top, '22'],
    [left, '6'],
    [right, '8'],
    [low, '4'],
  ];
  for (const id of [top, left, right, low]) expect(await treeOf(id)).toMatchObject({ rows, total: 4 });
  expect(await treeOf(low, '?limit=2&offset=1')).toMatchObject({ rows: rows.slice(1, 3), total: 4 });
});

it('leaves out parts that have ended, except the branch of the lease itself', async () => {
  const top = (await calls.grant('team', { amount: '40' })).id;
  const left = await part('team', top, '10');
  const low = await part('user', left, '4', 5);
  const brief = await part('user', top, '3', 5);
  api.clock.advanceMs(5_000);
  expect((await treeOf(top)).rows.map(([id]: string[]) => id)).toEqual([top, left]);
  const shown = await treeOf(low);
  expect(shown.leases.map(({ id, status }: Record<string, string>) => [id, status])).toEqual([
    [top, 'active'],
    [left, 'active'],
    [low, 'expired'],
  ]);
  await calls.close(top);
  expect((await treeOf(top)).rows).toEqual([[top, '0']]);
  expect((await treeOf(brief)).rows).toEqual([
    [top, '0'],
    [brief, '0'],
  ]);
});

it('is of one lease where there are no parts, and of none for another project', async () => {
  const { id } = await calls.grant('team', { amount: '2' });
  expect((await treeOf(id)).rows).toEqual([[id, '2']]);
  const sibling = `/v1/projects/${await api.makeProject(api.tenantId)}/budget-leases`;
  expect((await api.call('GET', `${sibling}/${id}/tree`)).status).toBe(404);
  const ingest = await api.makeKey(api.tenantId, ['usage:ingest']);
  expect((await api.call('GET', `${api.url}/budget-leases/${id}/tree`, undefined, ingest)).status).toBe(403);
});
