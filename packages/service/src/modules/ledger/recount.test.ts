import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recountLedger } from './index.js';
import { LedgerFixture, ONE } from './ledger.testing.js';
import type { WalletCaller } from './wallets.js';

let fixture: LedgerFixture;
let wallet: WalletCaller;

beforeEach(async () => {
  fixture = await LedgerFixture.start();
  wallet = await fixture.newWallet();
  await fixture.ledger.wallets.setMode(wallet, 'prepaid');
  await fixture.ledger.wallets.credit(wallet, { amount: 5n * ONE }, undefined);
  await fixture.debit([wallet, 2n * ONE]);
});
afterEach(() => fixture.stop());

/** Changes rows that the service itself never changes. */
async function tamper(statement: string): Promise<void> {
  const { pool } = fixture.store.postgres;
  await pool.query('alter table ledger_entries disable trigger all');
  await pool.query('alter table ledger_transactions disable trigger all');
  await pool.query(statement);
}

const found = async () => {
  const { differences } = await fixture.recount();
  return differences.map(({ measure, expected, found }) => [measure, expected, found]);
};

describe('a recount', () => {
  it('finds a ledger that was left alone in order', async () => {
    expect(await fixture.recount()).toEqual({
      wallets: 1,
      transactions: 2,
      difference_count: 0,
      differences: [],
    });
  });

  it('finds a line that was changed', async () => {
    await tamper(`update ledger_entries set amount = amount - 1 where ledger_account = 'usage'`);
    expect(await found()).toEqual([['transaction_sum', '0', '-1']]);
  });

  it('finds a transaction without lines, and the balance that they made', async () => {
    await tamper(`delete from ledger_entries e using ledger_transactions t
      where e.transaction_id = t.id and t.kind = 'credit'`);
    expect(await found()).toEqual([
      ['transaction_sum', '0', 'nothing'],
      ['balance', '-2', '3'],
      ['credit_amount', '0', '5'],
    ]);
  });

  it('finds lines without their transaction', async () => {
    await tamper(`delete from ledger_transactions where kind = 'usage'`);
    expect(await found()).toEqual([
      ['lines_without_transaction', '0', '2'],
      ['balance', '5', '3'],
    ]);
  });

  it('finds a transaction without its wallet', async () => {
    await tamper(`update ledger_transactions set currency = 'EUR' where kind = 'usage'`);
    expect(await found()).toEqual([
      ['transactions_without_wallet', '0', '1'],
      ['balance', '5', '3'],
    ]);
  });

  it('finds a wallet and credits that were changed', async () => {
    await tamper('update wallets set balance = balance + 1, owed = 1');
    expect(await found()).toEqual([
      ['balance', '3', '4'],
      ['owed', '0', '1'],
    ]);
    await tamper('update wallets set balance = balance - 1, owed = 0');
    await tamper('update credit_grants set remaining = 1');
    expect(await found()).toEqual([['credits_left', '-1', '3']]);
  });

  it('finds the balance that a changed correction made', async () => {
    await fixture.correct([wallet, -ONE]);
    expect(await found()).toEqual([]);
    await tamper(`update ledger_entries e set amount = amount * 2 from ledger_transactions t
      where e.transaction_id = t.id and t.kind = 'correction'`);
    expect(await found()).toEqual([['balance', '5', '4']]);
  });

  it('finds a credit with more left than it held', async () => {
    const { pool } = fixture.store.postgres;
    await fixture.correct([wallet, -4n * ONE]);
    await pool.query('alter table credit_grants drop constraint credit_grants_check');
    await tamper('update credit_grants set remaining = 7');
    await tamper('update wallets set unapplied_debit = 0');
    expect(await found()).toEqual([['credits_out_of_bounds', '0', '1']]);
  });

  it('finds a credit that has expired and has something left', async () => {
    await tamper('update credit_grants set expired_at = 1');
    expect(await found()).toEqual([['credits_out_of_bounds', '0', '1']]);
  });

  it('finds a credit whose expiry its wallet does not know', async () => {
    const expiresAt = fixture.nowS + 10;
    await fixture.ledger.wallets.credit(wallet, { amount: ONE, expiresAt }, undefined);
    expect(await found()).toEqual([]);
    await tamper('update wallets set next_expiry_at = next_expiry_at - 1');
    expect(await found()).toEqual([]);
    await tamper('update wallets set next_expiry_at = next_expiry_at + 2');
    expect(await found()).toEqual([['credits_that_never_expire', '0', '1']]);
    await tamper('update wallets set next_expiry_at = null');
    expect(await found()).toEqual([['credits_that_never_expire', '0', '1']]);
  });

  it('finds a credit that is not what its transaction has added', async () => {
    await fixture.ledger.wallets.adjust(wallet, { amount: -ONE, reason: 'r' }, undefined);
    await fixture.ledger.wallets.adjust(wallet, { amount: ONE, reason: 'r' }, undefined);
    expect(await found()).toEqual([]);
    await tamper(`update credit_grants set amount = amount + 2 where source = 'credit'`);
    expect(await found()).toEqual([['credit_amount', '5', '7']]);
    await tamper(`delete from credit_grants where source = 'credit'`);
    expect(await found()).toContainEqual(['credit_amount', '5', '0']);
  });

  it('counts every difference and lists as many as it is asked for', async () => {
    await tamper('update wallets set balance = balance + 1');
    const recount = await recountLedger(fixture.store.postgres, 1);
    expect(recount).toMatchObject({ difference_count: 2, differences: [{ account_id: wallet.accountId }] });
  });

  it('does not see half of what is posted meanwhile', async () => {
    let isDone = false;
    const traffic = (async () => {
      while (!isDone) await fixture.debit([wallet, 1n]);
    })();
    for (let round = 0; round < 5; round++) {
      expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
    }
    isDone = true;
    await traffic;
  });
});

describe('the ledger in the database', () => {
  it.each([
    'update ledger_entries set amount = 0',
    'delete from ledger_entries',
    `update ledger_transactions set kind = 'credit'`,
    'delete from ledger_transactions',
  ])('refuses to %s', async (statement) => {
    await expect(fixture.store.postgres.pool.query(statement)).rejects.toThrow('append-only');
  });

  it('finds a credit whose terms are not those that it was given', async () => {
    const expiresAt = fixture.nowS + 10;
    await fixture.ledger.wallets.credit(wallet, { amount: ONE, expiresAt, priority: -2 }, undefined);
    await fixture.ledger.wallets.adjust(wallet, { amount: ONE, reason: 'r' }, undefined);
    expect(await found()).toEqual([]);
    await tamper('update credit_grants set priority = 7 where priority = -2');
    expect(await found()).toEqual([['credit_priority', '-2', '7']]);
    await tamper('update credit_grants set priority = -2, expires_at = expires_at + 1 where priority = 7');
    expect(await found()).toEqual([['credit_expires_at', String(expiresAt), String(expiresAt + 1)]]);
    await tamper('update credit_grants set expires_at = null where priority = -2');
    expect(await found()).toEqual([['credit_expires_at', String(expiresAt), '0']]);
  });

  it('finds a mode that nobody has set', async () => {
    const opened = await fixture.newWallet();
    await fixture.debit([opened, ONE]);
    expect(await found()).toEqual([]);
    await fixture.ledger.wallets.setMode(opened, 'prepaid');
    await fixture.ledger.wallets.setMode(opened, 'postpaid');
    expect(await found()).toEqual([]);
    await tamper(`update wallets set mode = 'postpaid' where account_id = '${wallet.accountId}'`);
    expect(await found()).toEqual([['mode_never_set', '0', '1']]);
  });
});
