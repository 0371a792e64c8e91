import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics/index.js';
import { connectPostgres } from '../../platform/postgres/index.js';
import { dueAtMs, waitFor } from '../../testing/index.js';
import { createCreditExpiryJob } from './index.js';
import { allAtOnce, LedgerFixture, ONE } from './ledger.testing.js';
import { measureDueWallets, nextCreditExpiryMs } from './wallet-store.js';
import type { WalletCaller } from './wallets.js';

let fixture: LedgerFixture;

beforeEach(async () => {
  fixture = await LedgerFixture.start();
});
afterEach(() => fixture.stop());

/** Opens wallets with one expired credit each. */
async function expiredWallets(count: number): Promise<WalletCaller[]> {
  const wallets = await allAtOnce(Array.from({ length: count }, () => () => fixture.newWallet()));
  const input = { amount: 3n * ONE, expiresAt: fixture.nowS + 5 };
  await allAtOnce(wallets.map((wallet) => () => fixture.ledger.wallets.credit(wallet, input, undefined)));
  fixture.clock.advanceMs(5_000);
  return wallets;
}

async function expiries(): Promise<number> {
  const { pool } = fixture.store.postgres;
  const { rows } = await pool.query(
    `select count(*) as count from ledger_transactions where kind = 'credit_expiry'`,
  );
  return rows[0].count;
}

describe('the expiry of credits', () => {
  it('is due at its second, until it is done', async () => {
    const due = () => dueAtMs(fixture.store.postgres, nextCreditExpiryMs);
    expect(await due()).toBeNull();
    const expiresAt = fixture.nowS + 5;
    await fixture.ledger.wallets.credit(await fixture.newWallet(), { amount: ONE, expiresAt }, undefined);
    expect(await due()).toBe(expiresAt * 1_000);
    fixture.clock.advanceMs(5_000);
    await fixture.expiryJob().sweep();
    expect(await due()).toBeNull();
  });

  it('waits, wakes nobody and is not measured while the tenant is in another cell', async () => {
    await expiredWallets(2);
    const { postgres } = fixture.store;
    const due = () => dueAtMs(postgres, nextCreditExpiryMs);
    await postgres.pool.query(`insert into tenant_moves values ('ten_1', 'mov_1', 'moved', 0)`);
    expect(await due()).toBeNull();
    expect(await measureDueWallets(postgres.db, fixture.nowS)).toEqual({ count: 0, oldestAtS: null });
    expect(await fixture.expiryJob().sweep()).toBe(0);
    // A tenant that is only being copied works as before.
    await postgres.pool.query(`update tenant_moves set state = 'copying'`);
    expect(await due()).toBe(fixture.nowS * 1_000);
    expect(await measureDueWallets(postgres.db, fixture.nowS)).toEqual({
      count: 2,
      oldestAtS: fixture.nowS,
    });
    expect(await fixture.expiryJob().sweep()).toBe(2);
  });

  it('comes at its second, not before', async () => {
    const wallet = await fixture.newWallet();
    const expiresAt = fixture.nowS + 5;
    await fixture.ledger.wallets.credit(wallet, { amount: ONE, expiresAt }, undefined);
    fixture.clock.advanceMs(4_999);
    expect(await fixture.expiryJob().sweep()).toBe(0);
    fixture.clock.advanceMs(1);
    expect(await fixture.expiryJob().sweep()).toBe(1);
    expect(await fixture.worth(wallet)).toEqual([0n, 0n]);
    const { entries } = await fixture.ledgerOf(wallet, { kind: 'credit_expiry' });
    expect(entries.map(({ ledger_account, amount }) => [ledger_account, amount])).toEqual([
      ['wallet', '-1'],
      ['expired_credits', '1'],
    ]);
    expect(entries[0]?.description).toMatch(/^Expiry of crg_[0-9a-f]{32}$/);
  });

  it('takes nothing of what debits have used, and posts nothing where they have used all', async () => {
    const [part, whole] = [await fixture.newWallet(), await fixture.newWallet()];
    const expiresAt = fixture.nowS + 5;
    for (const wallet of [part, whole]) {
      await fixture.ledger.wallets.credit(wallet, { amount: 3n * ONE, expiresAt }, undefined);
    }
    await fixture.debit([part, ONE], [whole, 4n * ONE]);
    fixture.clock.advanceMs(5_000);
    expect(await fixture.expiryJob().sweep()).toBe(1);
    expect(await fixture.worth(part)).toEqual([0n, 0n]);
    expect(await fixture.worth(whole)).toEqual([-ONE, 0n]);
    expect(await fixture.wallet(whole)).toMatchObject({ nextExpiryAt: null });
  });

  it('happens once for each credit, however many jobs run at once', async () => {
    await expiredWallets(250);
    const expired = await Promise.all(Array.from({ length: 4 }, () => fixture.expiryJob().sweep()));
    expect(expired.reduce((sum, count) => sum + count, 0)).toBe(250);
    expect(await expiries()).toBe(250);
    expect(await fixture.recount()).toMatchObject({ difference_count: 0, wallets: 250 });
  });

  it('does not wait for a wallet that somebody holds, and comes back to it', async () => {
    const [held] = await expiredWallets(3);
    const client = await fixture.store.postgres.pool.connect();
    await client.query('begin');
    await client.query('select 1 from wallets where account_id = $1 for update', [held?.accountId]);
    expect(await fixture.expiryJob().sweep()).toBe(2);
    await client.query('commit');
    client.release();
    expect(await fixture.expiryJob().sweep()).toBe(1);
  });

  it('is whole or not at all when its connection is killed, and is made up for', async () => {
    await expiredWallets(150);
    const { connectionString, postgres } = fixture.store;
    const log = { warn: () => {} };
    const own = connectPostgres({
      connection: connectionString,
      applicationName: 'victim',
      poolMax: 1,
      log,
    });
    const job = createCreditExpiryJob({
      postgres: own,
      clock: fixture.clock,
      log,
      metrics: createMetrics(),
    });
    // The job has changed the wallets and credits, and now waits for the ledger table.
    const blocker = await postgres.pool.connect();
    await blocker.query('begin');
    await blocker.query('lock table ledger_transactions in exclusive mode');
    const swept = job.sweep();
    const refused = expect(swept).rejects.toThrow();
    const victim = `select pid from pg_stat_activity where application_name = 'victim' and wait_event_type = 'Lock'`;
    await waitFor(async () => (await postgres.pool.query(victim)).rowCount === 1);
    await postgres.pool.query(`select pg_terminate_backend(pid) from (${victim}) victims`);
    await refused;
    await blocker.query('rollback');
    blocker.release();
    expect(await expiries()).toBe(0);
    expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
    expect(await job.sweep()).toBe(150);
    await own.close();
    expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
  });

  it('continues after a failure, counts it, and stops on request', async () => {
    await expiredWallets(1);
    const metrics = createMetrics();
    const warnings: unknown[] = [];
    const { pool } = fixture.store.postgres;
    const job = createCreditExpiryJob({
      ...{ postgres: fixture.store.postgres, clock: fixture.clock, metrics },
      log: { warn: (...logged: unknown[]) => void warnings.push(logged) },
    });
    await pool.query('alter table wallets rename to mislaid');
    const stop = new AbortController();
    const running = job.run(stop.signal);
    await waitFor(() => warnings.length > 0);
    await pool.query('alter table mislaid rename to wallets');
    await waitFor(async () => (await expiries()) === 1);
    stop.abort();
    await running;
    const text = await metrics.metrics();
    expect(text).toMatch(/^tollgate_credit_expiry_failures_total [1-9]/m);
    expect(text).toContain('tollgate_credits_expired_total 1');
    expect(text).toContain('tollgate_credit_expiry_due_wallets 0');
  });

  it('returns how many wait, and for how long', async () => {
    await expiredWallets(2);
    fixture.clock.advanceMs(7_000);
    const metrics = createMetrics();
    const job = createCreditExpiryJob({
      ...{ postgres: fixture.store.postgres, metrics, log: { warn: () => {} } },
      clock: fixture.clock,
    });
    await job.sweep(AbortSignal.abort());
    const text = await metrics.metrics();
    expect(text).toContain('tollgate_credit_expiry_due_wallets 2');
    expect(text).toContain('tollgate_credit_expiry_oldest_seconds 7');
  });
});
