import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WalletOracle } from '../../testing/wallet-oracle.js';
import { amountText } from './amount.js';
import { LedgerFixture } from './ledger.testing.js';
import type { WalletCaller } from './wallets.js';

const RUNS = 100;
const STEPS_MAX = 25;

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await LedgerFixture.start();
});
afterAll(() => fixture.stop());

/** Small enough that amounts are often equal, and with digits down to the last. */
const amounts = fc.oneof(
  fc.bigInt({ min: 1n, max: 20n }),
  fc.bigInt({ min: 1n, max: 40n }).map((units) => units * 10n ** 17n),
);
const steps = fc.oneof(
  fc.record({
    does: fc.constant('credit' as const),
    amount: amounts,
    priority: fc.integer({ min: -1, max: 1 }),
    lastsS: fc.option(fc.integer({ min: 1, max: 30 })),
  }),
  fc.record({
    does: fc.constantFrom('debit', 'debit', 'refund' as const),
    amount: amounts,
    released: amounts,
  }),
  fc.record({ does: fc.constantFrom('charge more', 'give back', 'give back' as const), amount: amounts }),
  fc.record({ does: fc.constantFrom('raise', 'lower', 'reserve', 'release' as const), amount: amounts }),
  fc.record({ does: fc.constant('mode' as const), mode: fc.constantFrom('prepaid', 'postpaid' as const) }),
  fc.record({ does: fc.constantFrom('wait', 'sweep' as const), seconds: fc.integer({ min: 1, max: 15 }) }),
);
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

/** Applies the step to the oracle and to the ledger; both must agree on what is refused. */
async function perform(step: Step, wallet: WalletCaller, oracle: WalletOracle): Promise<void> {
  const { clock, ledger } = fixture;
  clock.advanceMs(1_000);
  switch (step.does) {
    case 'wait':
      clock.advanceMs(step.seconds * 1_000);
      return;
    case 'sweep':
      await fixture.expiryJob().sweep();
      oracle.expire(fixture.nowS);
      return;
    case 'release':
      oracle.expire(fixture.nowS);
      oracle.release(step.amount);
      await fixture.release([wallet, step.amount]);
      return;
    case 'reserve':
      return performReserve(step.amount, wallet, oracle);
  }
  oracle.expire(fixture.nowS);
  switch (step.does) {
    case 'credit': {
      const expiresAt = step.lastsS === null ? undefined : fixture.nowS + step.lastsS;
      oracle.credit(step.amount, step.priority, expiresAt ?? null);
      const input = { amount: step.amount, priority: step.priority, expiresAt };
      await ledger.wallets.credit(wallet, input, undefined);
      return;
    }
    case 'debit':
      oracle.debit(step.amount);
      oracle.release(step.released);
      await fixture.debit([wallet, step.amount, step.released]);
      return;
    case 'refund':
      oracle.giveBack(step.amount);
      oracle.release(step.released);
      await fixture.debit([wallet, -step.amount, step.released]);
      return;
    case 'charge more':
      oracle.debit(step.amount);
      await fixture.correct([wallet, step.amount]);
      return;
    case 'give back':
      oracle.giveBack(step.amount);
      await fixture.correct([wallet, -step.amount]);
      return;
    case 'raise':
      oracle.credit(step.amount, 0, null);
      await ledger.wallets.adjust(wallet, { amount: step.amount, reason: 'more' }, undefined);
      return;
    case 'lower':
      return performLower(step.amount, wallet, oracle);
    case 'mode':
      oracle.mode = step.mode;
      await ledger.wallets.setMode(wallet, step.mode);
  }
}

async function performReserve(amount: bigint, wallet: WalletCaller, oracle: WalletOracle): Promise<void> {
  const reserved = await fixture.reserve(wallet, amount);
  oracle.expire(fixture.nowS);
  if (oracle.mode === 'postpaid') {
    expect(reserved).toBe('not_needed');
    return;
  }
  expect(reserved).toBe(oracle.hasAvailable(amount) ? 'held' : 'insufficient_funds');
  if (reserved === 'held') oracle.reserved += amount;
}

async function performLower(amount: bigint, wallet: WalletCaller, oracle: WalletOracle): Promise<void> {
  const lowered = fixture.ledger.wallets.adjust(wallet, { amount: -amount, reason: 'less' }, undefined);
  if (oracle.mode === 'postpaid' || oracle.hasAvailable(amount)) {
    oracle.debit(amount);
    await lowered;
    return;
  }
  await expect(lowered).rejects.toMatchObject({ code: 'insufficient_funds' });
  // A refused change changes nothing: credits that had expired still wait.
  await fixture.expiryJob().sweep();
}

async function expectAgreement(wallet: WalletCaller, oracle: WalletOracle): Promise<void> {
  const found = await fixture.wallet(wallet);
  expect({
    balance: found?.balance ?? 0n,
    owed: found?.owed ?? 0n,
    reserved: found?.reserved ?? 0n,
    mode: found?.mode ?? 'postpaid',
  }).toEqual({ balance: oracle.balance, owed: oracle.owed, reserved: oracle.reserved, mode: oracle.mode });
  const { items: credits } = await fixture.credits(wallet);
  expect(credits.map(({ remaining }) => remaining).reverse()).toEqual(
    oracle.grants.map(({ remaining }) => amountText(remaining)),
  );
}

it('is what the oracle says after every step, whatever the steps', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: STEPS_MAX, size: 'max' }), async (performed) => {
      const wallet = await fixture.newWallet();
      const oracle = new WalletOracle();
      for (const step of performed) {
        await perform(step, wallet, oracle);
        await expectAgreement(wallet, oracle);
      }
    }),
    { numRuns: RUNS },
  );
  expect(await fixture.recount()).toMatchObject({ difference_count: 0, differences: [] });
});
