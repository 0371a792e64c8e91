import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amountFromText, availableText, walletKeyLists } from './index.js';
import { LedgerFixture, ONE } from './ledger.testing.js';
import { keyOfCaller, type WalletCaller } from './wallets.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await LedgerFixture.start();
});
afterAll(() => fixture.stop());

async function prepaidWallet(amount: bigint, expiresAt?: number): Promise<WalletCaller> {
  const wallet = await fixture.newWallet();
  await fixture.ledger.wallets.setMode(wallet, 'prepaid');
  await fixture.ledger.wallets.credit(wallet, { amount, expiresAt }, undefined);
  return wallet;
}

async function available(...wallets: WalletCaller[]): Promise<(bigint | undefined)[]> {
  const { rows } = await fixture.store.postgres.pool.query<{ position: number; available: string }>(
    availableText(1),
    walletKeyLists(wallets.map(keyOfCaller)),
  );
  const byPosition = new Map(rows.map((row) => [row.position, amountFromText(row.available)]));
  return wallets.map((_, index) => byPosition.get(index + 1));
}

describe('a reservation', () => {
  it('holds what a prepaid wallet has, and no more', async () => {
    const wallet = await prepaidWallet(10n);
    expect(await fixture.reserve(wallet, 7n)).toBe('held');
    expect(await fixture.reserve(wallet, 4n)).toBe('insufficient_funds');
    expect(await fixture.reserve(wallet, 3n)).toBe('held');
    expect(await fixture.wallet(wallet)).toMatchObject({ balance: 10n, reserved: 10n });
    expect(await available(wallet)).toEqual([0n]);
  });

  it('is not needed where nothing bounds usage: a postpaid wallet, or one that is not open', async () => {
    const wallet = await fixture.newWallet();
    expect(await fixture.reserve(wallet, 7n)).toBe('not_needed');
    expect(await fixture.wallet(wallet)).toBeUndefined();
    await fixture.debit([wallet, 1n]);
    expect(await fixture.reserve(wallet, 7n)).toBe('not_needed');
    expect(await available(wallet)).toEqual([undefined]);
  });

  it('counts no credit that has expired', async () => {
    const wallet = await prepaidWallet(10n, fixture.nowS + 1);
    fixture.clock.advanceMs(1_000);
    expect(await fixture.reserve(wallet, 1n)).toBe('insufficient_funds');
    expect(await fixture.worth(wallet)).toEqual([0n, 0n]);
  });

  it('leaves nothing available where usage took what it holds', async () => {
    const wallet = await prepaidWallet(10n);
    await fixture.reserve(wallet, 8n);
    await fixture.debit([wallet, 5n]);
    expect(await fixture.reserve(wallet, 1n)).toBe('insufficient_funds');
    const taken = fixture.ledger.wallets.adjust(wallet, { amount: -1n, reason: 'x' }, undefined);
    await expect(taken).rejects.toMatchObject({ code: 'insufficient_funds' });
    await fixture.release([wallet, 8n]);
    expect(await fixture.reserve(wallet, 5n)).toBe('held');
  });

  it('is given back as often as it was held: never below zero, in any number of wallets', async () => {
    const [one, two] = [await prepaidWallet(10n), await prepaidWallet(10n)];
    await fixture.reserve(one, 6n);
    await fixture.reserve(two, 6n);
    expect(await available(two, await fixture.newWallet(), one, two)).toEqual([4n, undefined, 4n, 4n]);
    await fixture.release([two, 1n], [one, 2n], [two, 3n]);
    expect(await fixture.wallet(one)).toMatchObject({ reserved: 4n });
    expect(await fixture.wallet(two)).toMatchObject({ reserved: 2n });
    await fixture.release([one, ONE], [await fixture.newWallet(), 1n]);
    expect(await fixture.wallet(one)).toMatchObject({ reserved: 0n, balance: 10n });
  });

  it('survives a change of mode', async () => {
    const wallet = await prepaidWallet(10n);
    await fixture.reserve(wallet, 6n);
    expect(await fixture.ledger.wallets.setMode(wallet, 'postpaid')).toMatchObject({ reserved: 6n });
    await fixture.debit([wallet, 1n, 2n]);
    expect(await fixture.wallet(wallet)).toMatchObject({ reserved: 4n });
  });

  it.each([0n, -1n])('of %s is a mistake', async (amount) => {
    await expect(fixture.reserve(await prepaidWallet(10n), amount)).rejects.toThrow(RangeError);
  });
});
