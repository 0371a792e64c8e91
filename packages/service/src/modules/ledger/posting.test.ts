import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newId } from '../../kernel/id.js';
import { transaction } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from './amount.js';
import { postUsage } from './index.js';
import { allAtOnce, LedgerFixture, ONE } from './ledger.testing.js';
import { keyOfCaller, type WalletCaller } from './wallets.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await LedgerFixture.start();
});
afterAll(() => fixture.stop());

const post = (wallet: WalletCaller, amount: bigint, transactionId: string | undefined, released = 0n) =>
  transaction(fixture.store.postgres, (tx) =>
    postUsage(tx, [{ ...keyOfCaller(wallet), amount, released, transactionId }], fixture.clock.nowMs()),
  );

/** Returns the lines of an account's transactions of one kind, as `ledger account amount`. */
async function linesOf({ accountId }: WalletCaller, kind: string): Promise<string[]> {
  const { rows } = await fixture.store.postgres.pool.query<{ line: string }>(
    `select ledger_account || ' ' || trim_scale(amount) as line from ledger_transactions t
     join ledger_entries e on e.transaction_id = t.id where account_id = $1 and kind = $2
     order by t.id, ledger_account`,
    [accountId, kind],
  );
  return rows.map(({ line }) => line);
}

describe('usage', () => {
  it('opens a postpaid wallet, which may fall below zero', async () => {
    const wallet = await fixture.newWallet();
    await fixture.debit([wallet, 5n * ONE]);
    expect(await fixture.wallet(wallet)).toMatchObject({ mode: 'postpaid', balance: -5n * ONE, owed: 0n });
    expect(await linesOf(wallet, 'usage')).toEqual(['usage 5', 'wallet -5']);
  });

  it('leaves a prepaid wallet at zero, owing what it could not pay; the next credit pays that first', async () => {
    const wallet = await fixture.newWallet();
    await fixture.ledger.wallets.setMode(wallet, 'prepaid');
    await fixture.ledger.wallets.credit(wallet, { amount: 4n * ONE }, undefined);
    await fixture.debit([wallet, 10n * ONE]);
    expect(await fixture.worth(wallet)).toEqual([0n, 6n * ONE]);
    expect(await linesOf(wallet, 'usage')).toEqual(['receivable -6', 'usage 10', 'wallet -4']);
    await fixture.ledger.wallets.credit(wallet, { amount: 10n * ONE }, undefined);
    expect(await fixture.worth(wallet)).toEqual([4n * ONE, 0n]);
    expect(await linesOf(wallet, 'credit')).toEqual([
      ...['credits -4', 'wallet 4'],
      ...['credits -10', 'receivable 6', 'wallet 4'],
    ]);
  });

  it('is exact to the last digit', async () => {
    const wallet = await fixture.newWallet();
    await fixture.debit([wallet, 1n]);
    await fixture.debit([wallet, 10n ** 38n - 1n]);
    expect(await fixture.worth(wallet)).toEqual([-(10n ** 38n), 0n]);
  });

  it('posts the transaction that charge items name, for nothing too', async () => {
    const wallet = await fixture.newWallet();
    const transactionId = newId('led', fixture.clock);
    await post(wallet, 0n, transactionId);
    expect(await linesOf(wallet, 'usage')).toEqual(['usage 0']);
    const query = { ledger_account: 'usage' } as const;
    expect(await fixture.ledgerOf(wallet, query)).toMatchObject({
      entries: [{ transaction_id: transactionId, amount: '0' }],
    });
  });

  it('takes back an expired credit before it is debited', async () => {
    const wallet = await fixture.newWallet();
    await fixture.ledger.wallets.setMode(wallet, 'prepaid');
    const expiresAt = fixture.nowS + 10;
    await fixture.ledger.wallets.credit(wallet, { amount: 9n * ONE, expiresAt }, undefined);
    await fixture.debit([wallet, 2n * ONE]);
    fixture.clock.advanceMs(10_000);
    await fixture.debit([wallet, ONE]);
    expect(await fixture.worth(wallet)).toEqual([0n, ONE]);
    expect(await linesOf(wallet, 'credit_expiry')).toEqual(['expired_credits 7', 'wallet -7']);
    const { items: credits } = await fixture.credits(wallet);
    expect(credits).toMatchObject([{ remaining: '0', expired_at: fixture.nowS }]);
  });

  it('refills credits by a refund, which expires with them, whether or not somebody looked in between', async () => {
    const expiresAt = fixture.nowS + 10;
    const wallets = [await fixture.newWallet(), await fixture.newWallet()] as const;
    for (const wallet of wallets) {
      await fixture.ledger.wallets.credit(wallet, { amount: 10n, expiresAt }, undefined);
      await fixture.debit([wallet, 5n]);
      if (wallet === wallets[0]) await fixture.ledger.wallets.setMode(wallet, 'prepaid');
      await fixture.debit([wallet, -7n]);
      const { items: credits } = await fixture.credits(wallet);
      expect(credits).toMatchObject([{ remaining: amountText(10n) }]);
      expect(await fixture.wallet(wallet)).toMatchObject({ balance: 12n, unappliedDebit: -2n });
    }
    expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
    fixture.clock.advanceMs(10_000);
    await fixture.expiryJob().sweep();
    for (const wallet of wallets) expect(await fixture.worth(wallet)).toEqual([2n, 0n]);
  });

  it('repays by a refund what is owed beyond credits, then the credit used last, above none', async () => {
    const wallet = await fixture.newWallet();
    await fixture.ledger.wallets.setMode(wallet, 'prepaid');
    for (const priority of [0, 1])
      await fixture.ledger.wallets.credit(wallet, { amount: 3n, priority }, undefined);
    await fixture.debit([wallet, 10n]);
    const states: unknown[] = [];
    for (const amount of [-2n, -4n, -5n]) {
      await fixture.debit([wallet, amount]);
      const { items: credits } = await fixture.credits(wallet);
      const left = credits.map(({ remaining }) => amountFromText(remaining)).reverse();
      states.push([left, ...(await fixture.worth(wallet))]);
    }
    expect(states).toEqual([
      [[0n, 0n], 0n, 2n],
      [[0n, 2n], 2n, 0n],
      [[3n, 3n], 7n, 0n],
    ]);
    expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
  });

  it('gives reservations back: never more than is reserved, and without a debit too', async () => {
    const wallet = await fixture.newWallet();
    await fixture.store.postgres.db.transaction().execute(async (tx) => {
      await postUsage(tx, [fixture.debitOf(wallet, 0n, 0n)], fixture.clock.nowMs());
      await sql`update wallets set reserved = 5 where account_id = ${wallet.accountId}`.execute(tx);
    });
    await fixture.debit([wallet, ONE, 2n * ONE]);
    expect(await fixture.wallet(wallet)).toMatchObject({ reserved: 3n * ONE });
    await post(wallet, 0n, undefined, ONE);
    expect(await fixture.wallet(wallet)).toMatchObject({ reserved: 2n * ONE, balance: -ONE });
    await fixture.debit([wallet, ONE, 7n * ONE]);
    expect(await fixture.wallet(wallet)).toMatchObject({ reserved: 0n });
  });

  it('refuses what would lose money: a wallet twice in a batch, a debit without a transaction', async () => {
    const wallet = await fixture.newWallet();
    await expect(fixture.debit([wallet, 1n], [wallet, 1n])).rejects.toThrow('each wallet once');
    await expect(post(wallet, 1n, undefined)).rejects.toThrow('needs a transaction');
    expect(await fixture.wallet(wallet)).toBeUndefined();
  });

  it('takes the same number of statements for one wallet and for hundreds', async () => {
    const statements = async (count: number) => {
      const wallets = await allAtOnce(Array.from({ length: count }, () => () => fixture.newWallet()));
      await fixture.debit(...wallets.map((wallet) => [wallet, ONE] as const));
      const expiresAt = fixture.nowS + 1;
      for (const wallet of wallets) {
        await fixture.ledger.wallets.credit(wallet, { amount: 2n * ONE, expiresAt }, undefined);
      }
      fixture.clock.advanceMs(2_000);
      const debits = wallets.map((wallet) => fixture.debitOf(wallet, ONE, 0n));
      const queries = vi.spyOn(pg.Client.prototype, 'query');
      await transaction(fixture.store.postgres, (tx) => postUsage(tx, debits, fixture.clock.nowMs()));
      const { length } = queries.mock.calls;
      queries.mockRestore();
      return length;
    };
    const ofOne = await statements(1);
    expect(ofOne).toBeLessThanOrEqual(10);
    expect(await statements(100)).toBe(ofOne);
  });
});
