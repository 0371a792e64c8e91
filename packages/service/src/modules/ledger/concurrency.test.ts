import { afterAll, beforeAll, expect, it } from 'vitest';

import { allAtOnce, LedgerFixture, ONE } from './ledger.testing.js';
import type { WalletCaller } from './wallets.js';

const CHANGES = 1_000;
const WALLETS = 20;
const BATCHES = 200;
/** Long enough for a machine that is busy with other work. */
const TIMEOUT_MS = 300_000;

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await LedgerFixture.start();
});
afterAll(() => fixture.stop());

/** Shuffles the same way in every run, so that a failure can be repeated. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const rank = (index: number) => ((index + 1) * 2_654_435_761 * (seed + 1)) % 4_294_967_296;
  return items
    .map((item, index) => ({ item, rank: rank(index) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

function credit(wallet: WalletCaller, amount: bigint, expiresAt?: number) {
  return fixture.ledger.wallets.credit(wallet, { amount, expiresAt }, undefined);
}

it('adds up a thousand changes of one prepaid wallet that are made at once', {
  timeout: TIMEOUT_MS,
}, async () => {
  const wallet = await fixture.newWallet();
  await fixture.ledger.wallets.setMode(wallet, 'prepaid');
  const job = fixture.expiryJob();
  const expiresAt = fixture.nowS + 1;
  const changes = Array.from({ length: CHANGES }, (_, index) => async () => {
    if (index === CHANGES / 2) fixture.clock.advanceMs(2_000);
    if (index % 10 === 9) await job.sweep();
    else if (index % 10 === 8) await fixture.debit([wallet, -1n]);
    else if (index % 2 === 0) await fixture.debit([wallet, 3n]);
    else if (index % 10 === 1 && index < CHANGES / 2) await credit(wallet, 2n, expiresAt);
    else await credit(wallet, 2n);
  });
  await allAtOnce(changes);
  await job.sweep();
  const { pool } = fixture.store.postgres;
  const { rows } = await pool.query<{ kind: string; count: number; worth: string }>(
    `select kind, count(distinct id) as count, sum(amount * 1e18)::bigint::text as worth
     from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
     where account_id = $1 and ledger_account in ('wallet', 'receivable') group by kind order by kind`,
    [wallet.accountId],
  );
  const sums = new Map(rows.map(({ kind, worth }) => [kind, BigInt(worth)]));
  expect(sums.get('credit')).toBe(400n * 2n);
  expect(sums.get('usage')).toBe(400n * -3n + 100n);
  const [balance, owed] = await fixture.worth(wallet);
  expect(balance - owed).toBe([...sums.values()].reduce((sum, worth) => sum + worth, 0n));
  expect(balance === 0n || owed === 0n).toBe(true);
  expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
});

it('never waits in a circle, whatever the order in which batches name their wallets', {
  timeout: TIMEOUT_MS,
}, async () => {
  const wallets = await allAtOnce(
    Array.from({ length: WALLETS }, (_, index) => () => fixture.newWallet(index % 2 === 0 ? 'USD' : 'EUR')),
  );
  const work = Array.from({ length: BATCHES }, (_, index) => async () => {
    const chosen = shuffled(wallets, index).slice(0, 1 + (index % WALLETS));
    if (index % 4 === 0) {
      await fixture.release(...chosen.map((wallet) => [wallet, 1n] as const));
    } else if (index % 4 === 1) {
      for (const wallet of chosen) await credit(wallet, ONE);
    } else if (index % 4 === 2) {
      await fixture.correct(...chosen.map((wallet) => [wallet, index % 8 === 2 ? -3n : 2n] as const));
    } else {
      await fixture.debit(...chosen.map((wallet) => [wallet, 1n] as const));
    }
  });
  await allAtOnce(work);
  expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
});

it('adds up corrections and batches that meet in one wallet, and loses no credit', async () => {
  const wallet = await fixture.newWallet();
  const job = fixture.expiryJob();
  await credit(wallet, 40n);
  const changes = Array.from({ length: 300 }, (_, index) => async () => {
    if (index % 10 === 9) await job.sweep();
    else if (index % 10 === 8) await credit(wallet, 4n, fixture.nowS + 1_000);
    else if (index % 2 === 0) await fixture.debit([wallet, 3n]);
    else await fixture.correct([wallet, index % 4 === 1 ? 2n : -2n]);
  });
  await allAtOnce(changes);
  const debited = 120n * 3n + (60n - 60n) * 2n;
  const [balance] = await fixture.worth(wallet);
  expect(balance).toBe(40n + 30n * 4n - debited);
  // Everything that is returned now has a credit to go to.
  await fixture.correct([wallet, -debited]);
  const { items: credits } = await fixture.credits(wallet);
  expect(credits.every(({ amount, remaining }) => amount === remaining)).toBe(true);
  expect(await fixture.wallet(wallet)).toMatchObject({ balance: 160n, unappliedDebit: 0n });
  expect(await fixture.recount()).toMatchObject({ difference_count: 0 });
});

it('never reserves more than there is, however many ask at once', async () => {
  const wallet = await fixture.newWallet();
  await fixture.ledger.wallets.setMode(wallet, 'prepaid');
  await credit(wallet, 10n * ONE);
  const asked = () => fixture.reserve(wallet, 3n * ONE);
  const outcomes = await allAtOnce(Array.from({ length: 40 }, () => asked));
  expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(3);
  expect(await fixture.wallet(wallet)).toMatchObject({ balance: 10n * ONE, reserved: 9n * ONE });
});

it('opens a wallet once, for all who meet in it', async () => {
  const wallet = await fixture.newWallet();
  const uses = Array.from({ length: 20 }, () => [
    () => fixture.debit([wallet, 1n]),
    async () => void (await credit(wallet, 2n)),
  ]);
  await allAtOnce(uses.flat());
  expect(await fixture.worth(wallet)).toEqual([20n, 0n]);
});
