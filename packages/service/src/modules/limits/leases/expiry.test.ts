import { afterAll, beforeAll, expect, it } from 'vitest';
import { unixSeconds } from '../../../kernel/clock.js';
import { dueAtMs } from '../../../testing/index.js';
import type { TestLimits } from '../check/realtime.testing.js';
import { ENDED_KEPT_S } from './expiry.js';
import { LeaseCalls } from './lease-calls.testing.js';
import { measureLeases, nextExpiryMs } from './store.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

async function count(): Promise<number> {
  const { rows } = await api.postgres.pool.query<{ count: number }>('select count(*) from budget_leases');
  return rows[0]?.count ?? 0;
}

it('is due at its expiry, until it has ended', async () => {
  const due = () => dueAtMs(api.postgres, nextExpiryMs);
  expect(await due()).toBeNull();
  await calls.grant('nobody', { amount: '1', ttl_seconds: 30 });
  const nowMs = Math.floor(api.clock.nowMs() / 1_000) * 1_000;
  await calls.grant('nobody', { amount: '1', ttl_seconds: 20 });
  expect(await due()).toBe(nowMs + 20_000);
  api.clock.advanceMs(20_000);
  expect(await api.expiry.sweep()).toBe(1);
  expect(await due()).toBe(nowMs + 30_000);
  api.clock.advanceMs(10_000);
  expect(await api.expiry.sweep()).toBe(1);
  expect(await due()).toBeNull();
});

it('is left alone, wakes nobody and is not measured while its tenant is in another cell', async () => {
  const { id } = await calls.grant('nobody', { amount: '1', ttl_seconds: 10 });
  api.clock.advanceMs(20_000);
  const nowS = unixSeconds(api.clock);
  const { pool, db } = api.postgres;
  await pool.query('insert into tenant_moves values ($1, $2, $3, 0)', [api.tenantId, 'mov_1', 'moved']);
  expect(await dueAtMs(api.postgres, nextExpiryMs)).toBeNull();
  expect(await measureLeases(db, nowS)).toEqual({ active: 0, due: 0, oldestDueAtS: null });
  expect(await api.expiry.sweep()).toBe(0);
  // A tenant that is only being copied works as before.
  await pool.query(`update tenant_moves set state = 'copying'`);
  expect(await measureLeases(db, nowS)).toEqual({ active: 0, due: 1, oldestDueAtS: nowS - 10 });
  expect(await dueAtMs(api.postgres, nextExpiryMs)).toBe((nowS - 10) * 1_000);
  expect(await api.expiry.sweep()).toBe(1);
  await pool.query('delete from tenant_moves');
  expect((await calls.get(id)).json().status).toBe('expired');
});

it('is kept for a time after its end, and then deleted; what has not ended stays', async () => {
  const closed = await calls.grant('nobody', { amount: '1' });
  await calls.close(closed.id);
  const expired = await calls.grant('nobody', { amount: '1', ttl_seconds: 10 });
  const active = await calls.grant('nobody', { amount: '1' });
  await api.postgres.pool.query('update budget_leases set expires_at = expires_at + $2 where id = $1', [
    active.id,
    2 * ENDED_KEPT_S,
  ]);
  const statuses = async () => {
    await api.expiry.sweep();
    const answers = await Promise.all([closed, expired, active].map(({ id }) => calls.get(id)));
    return answers.map(({ status, json }) => (status === 200 ? json().status : status));
  };
  api.clock.advanceMs(ENDED_KEPT_S * 1_000);
  expect(await statuses()).toEqual(['closed', 'expired', 'active']);
  api.clock.advanceMs(1_000);
  const { pool } = api.postgres;
  await pool.query('insert into tenant_moves values ($1, $2, $3, 0)', [api.tenantId, 'mov_1', 'moved']);
  expect(await statuses()).toEqual(['closed', 'expired', 'active']);
  await pool.query('delete from tenant_moves');
  expect(await statuses()).toEqual([404, 'expired', 'active']);
  api.clock.advanceMs(10_000);
  expect(await statuses()).toEqual([404, 404, 'active']);
});

it('is deleted with a bounded number of others at once', async () => {
  const { id } = await calls.grant('nobody', { amount: '1' });
  await calls.close(id);
  await api.postgres.pool.query(
    `insert into budget_leases
    select (json_populate_record(l, json_build_object('id', 'bl_' || n))).*
    from budget_leases l, generate_series(1, 2500) as n where l.id = $1`,
    [id],
  );
  const before = await count();
  api.clock.advanceMs((ENDED_KEPT_S + 1) * 1_000);
  const left: number[] = [];
  for (let sweep = 0; sweep < 4; sweep += 1) {
    await api.expiry.sweep();
    left.push(before - (await count()));
  }
  expect(left).toEqual([1_000, 2_000, 2_501, 2_501]);
});
