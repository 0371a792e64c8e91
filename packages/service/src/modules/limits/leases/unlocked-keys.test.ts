import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRef } from '../../../kernel/scope.js';
import { waitFor } from '../../../testing/index.js';
import { makeLimit, type TestLimits } from '../check/realtime.testing.js';
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

const inputOf = (id: string, amount: bigint, parentId?: string) => ({
  ...plainInput({ type: 'user', id }, amount * ONE, { ttlSeconds: 60 }),
  parentId,
});

/** A subject of whose one limit 1 USD of `limit` is reserved. */
async function subjectWith({ limit }: { readonly limit: string }) {
  const { subjectId, route } = await calls.makeSubject();
  await makeLimit(api, route, { key: subjectId, amount: limit, period: 'lifetime' });
  const { id } = await calls.grant(subjectId, { amount: '1' });
  return { subjectId, leaseId: id as string };
}

async function countOf(subjectId: string): Promise<number> {
  const { rows } = await api.postgres.pool.query(
    'select count(*)::int as count from budget_leases where subject_id = $1',
    [subjectId],
  );
  return rows[0].count;
}

describe('an Idempotency-Key of a lease that is decided without a lock', () => {
  it('is written together with the lease', async () => {
    const { subjectId } = await subjectWith({ limit: '2' });
    const ask = () => api.leases.create(project, inputOf(subjectId, 1n), 'once');
    let id = '';
    const statements = await statementsOf(api, async () => ({ id } = await ask()));
    expect(statements).toEqual(expect.arrayContaining(['key-uses', 'leases-unlocked-keys']));
    expect(statements).not.toContain('begin');
    expect(await ask()).toMatchObject({ id });
    await expect(api.leases.create(project, inputOf(subjectId, 2n), 'once')).rejects.toMatchObject({
      code: 'idempotency_key_conflict',
    });
    expect(await countOf(subjectId)).toBe(2);
  });

  it('stays free when the lease is refused', async () => {
    const { subjectId, leaseId } = await subjectWith({ limit: '1' });
    const ask = () => api.leases.create(project, inputOf(subjectId, 1n), 'free');
    await expect(ask()).rejects.toMatchObject({ code: 'limit_exceeded' });
    await calls.close(leaseId);
    expect(await ask()).toMatchObject({ status: 'active' });
  });

  it('has the answer of another process that uses it meanwhile', async () => {
    const { subjectId } = await subjectWith({ limit: '9' });
    const ask = () => api.leases.create(project, inputOf(subjectId, 1n), 'both');
    const node = leasesOfNode(api, 'key-uses', ask);
    const answer = await node.create(project, inputOf(subjectId, 1n), 'both');
    expect(await ask()).toEqual(answer);
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '2']]);
  });

  it('is refused for another subject than that of another process meanwhile', async () => {
    const { subjectId } = await subjectWith({ limit: '9' });
    const { subjectId: other } = await subjectWith({ limit: '9' });
    const node = leasesOfNode(api, 'key-uses', () => api.leases.create(project, inputOf(other, 1n), 'taken'));
    await expect(node.create(project, inputOf(subjectId, 1n), 'taken')).rejects.toMatchObject({
      code: 'idempotency_key_conflict',
    });
    expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '1']]);
  });
});

it('decides a group again that has locked its rules, when another process uses a key meanwhile', async () => {
  const { subjectId, route } = await calls.makeSubject();
  await makeLimit(api, route, { key: subjectId, amount: '9', period: 'lifetime' });
  const other = await api.postgres.pool.connect();
  try {
    await other.query('begin');
    await other.query(
      `insert into idempotent_requests (tenant_id, project_id, operation, key, request_hash, answer, created_at)
      values ($1, $2, 'budget_lease', 'late', 'other', 'null', 0)`,
      [project.tenantId, project.projectId],
    );
    const asked = api.leases.create(project, inputOf(subjectId, 1n), 'late');
    const waits =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await waitFor(async () => (await api.postgres.pool.query(waits)).rowCount === 1, { what: 'a lock' });
    await other.query('commit');
    await expect(asked).rejects.toMatchObject({ code: 'idempotency_key_conflict' });
  } finally {
    other.release();
  }
  expect(await countOf(subjectId)).toBe(0);
});

it('is not refused because of its own repetition, which has taken all', async () => {
  const { subjectId, leaseId } = await subjectWith({ limit: '2' });
  for (const [statement, parent] of [
    ['limits-usage', undefined],
    ['leases-found', leaseId],
  ] as const) {
    const key = `all ${statement}`;
    const ask = () => api.leases.create(project, inputOf(subjectId, 1n, parent), key);
    const node = leasesOfNode(api, statement, ask);
    const answer = await node.create(project, inputOf(subjectId, 1n, parent), key);
    expect(await ask()).toEqual(answer);
  }
  expect(await countOf(subjectId)).toBe(3);
});

it('grants one lease for each key that two processes use at once', async () => {
  const { subjectId } = await subjectWith({ limit: '100' });
  const node = leasesOfNode(api, 'none', async () => {});
  const keys = Array.from({ length: 40 }, (_, index) => `race ${index}`);
  const ask = (leases: typeof node, key: string) => leases.create(project, inputOf(subjectId, 1n), key);
  const granted = await Promise.all(
    keys.map((key, index) =>
      Promise.all(
        index % 2 === 0 ? [ask(node, key), ask(api.leases, key)] : [ask(api.leases, key), ask(node, key)],
      ),
    ),
  );
  expect(granted.map(([first, second]) => first?.id === second?.id)).toEqual(keys.map(() => true));
  expect(await countOf(subjectId)).toBe(keys.length + 1);
  expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, String(keys.length + 1)]]);
  expect(await calls.differences()).toEqual([]);
});
