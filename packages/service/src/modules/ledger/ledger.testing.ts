import { type LedgerQuery, WALLETS_LIMIT_MAX } from '@tollgate/contract';
import { ManualClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { createMetrics } from '../../platform/metrics/index.js';
import { ProjectDb, transaction } from '../../platform/postgres/index.js';
import type { SweepJob } from '../../platform/sweep-job.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import type { Amount } from './amount.js';
import { createCreditExpiryJob } from './expiry-job.js';
import {
  type CorrectionDebit,
  createLedger,
  type Ledger,
  postCorrections,
  postUsage,
  recountLedger,
  type UsageDebit,
  WalletHolds,
} from './index.js';
import { listLedger } from './ledger-list.js';
import type { Reservation } from './reservations.js';
import type { WalletState } from './wallet.js';
import { listWallets } from './wallet-store.js';
import { keyOfCaller, type WalletCaller } from './wallets.js';

const START_MS = 1_790_000_000_000;
const DIFFERENCES_MAX = 10;
/** As many as there are connections: a task that gets none within a while is refused. */
const CONNECTIONS_MAX = 10;

/** 1 as an amount. */
export const ONE: Amount = 10n ** 18n;

/** The correction that the fixture posts. */
export const CORRECTION_ID = 'cor_1';

/** A ledger with a database of its own and one project. */
export class LedgerFixture {
  readonly clock = new ManualClock(START_MS);
  readonly ledger: Ledger;

  private constructor(
    readonly store: TestPostgres,
    readonly project: ProjectRef,
  ) {
    this.ledger = createLedger({ postgres: store.postgres, clock: this.clock });
  }

  static async start(): Promise<LedgerFixture> {
    const store = await createTestPostgres();
    const project = await createProject(store.postgres, 'ten_1', 'prj_1');
    return new LedgerFixture(store, { ...project, kind: 'development' });
  }

  stop(): Promise<void> {
    return this.store.drop();
  }

  get nowS(): number {
    return Math.floor(this.clock.nowMs() / 1_000);
  }

  /** Names a wallet of a new account; the wallet is not open yet. */
  async newWallet(currency = 'USD'): Promise<WalletCaller> {
    const caller = {
      project: this.project,
      principal: { kind: 'service' } as const,
      requestId: 'r',
    };
    const account = await this.ledger.accounts.create(caller, { name: 'Acme' });
    return { ...caller, accountId: account.id, currency };
  }

  /** Posts the usage of one batch: for each wallet its amount, and how much of the reserved amount it uses. */
  async debit(...debits: readonly (readonly [WalletCaller, Amount, Amount?])[]): Promise<void> {
    const posted = debits.map(([wallet, amount, released = 0n]) => this.debitOf(wallet, amount, released));
    await transaction(this.store.postgres, (tx) => postUsage(tx, posted, this.clock.nowMs()));
  }

  /** Posts one batch of a correction: for each wallet the change of its debits. */
  async correct(...debits: readonly (readonly [WalletCaller, Amount])[]): Promise<void> {
    const posted = debits.map(([wallet, amount]) => this.correctionOf(wallet, amount));
    await transaction(this.store.postgres, (tx) => postCorrections(tx, posted, this.clock.nowMs()));
  }

  correctionOf(wallet: WalletCaller, amount: Amount): CorrectionDebit {
    const transactionId = newId('led', this.clock);
    return { ...keyOfCaller(wallet), amount, transactionId, correctionId: CORRECTION_ID };
  }

  debitOf(wallet: WalletCaller, amount: Amount, released: Amount): UsageDebit {
    return { ...keyOfCaller(wallet), amount, released, transactionId: newId('led', this.clock) };
  }

  reserve(of: WalletCaller, amount: Amount): Promise<Reservation> {
    return this.#held([of], (holds) => holds.reserve(keyOfCaller(of), amount));
  }

  release(...released: readonly (readonly [WalletCaller, Amount])[]): Promise<void> {
    const wallets = released.map(([wallet]) => wallet);
    return this.#held(wallets, (holds) => {
      for (const [wallet, amount] of released) holds.release({ ...keyOfCaller(wallet), amount });
    });
  }

  /** Locks wallets, decides something about them, and writes it. */
  #held<Outcome>(
    wallets: readonly WalletCaller[],
    decide: (holds: WalletHolds) => Outcome,
  ): Promise<Outcome> {
    return transaction(this.store.postgres, async (tx) => {
      const holds = await WalletHolds.lock(tx, wallets.map(keyOfCaller), this.clock);
      const outcome = decide(holds);
      await holds.write(tx);
      return outcome;
    });
  }

  async wallet(of: WalletCaller): Promise<WalletState | undefined> {
    const db = new ProjectDb(this.store.postgres.db, of.project);
    const wallets = await listWallets(db, of.accountId, { after: '', max: WALLETS_LIMIT_MAX });
    return wallets.find(({ currency }) => currency === of.currency);
  }

  /** Returns the balance and what is owed. */
  async worth(of: WalletCaller): Promise<readonly [Amount, Amount]> {
    const wallet = await this.wallet(of);
    return [wallet?.balance ?? 0n, wallet?.owed ?? 0n];
  }

  credits(of: WalletCaller) {
    return this.ledger.wallets.listCredits(keyOfCaller(of), { limit: 100, offset: 0 });
  }

  ledgerOf(of: WalletCaller, query: LedgerQuery) {
    return listLedger(this.store.postgres, of.project, of.accountId, query);
  }

  recount() {
    return recountLedger(this.store.postgres, DIFFERENCES_MAX);
  }

  expiryJob(): SweepJob {
    return createCreditExpiryJob({
      postgres: this.store.postgres,
      clock: this.clock,
      log: { warn: () => {} },
      metrics: createMetrics(),
    });
  }
}

/** Runs all tasks at once, on all connections; they start in their order. */
export async function allAtOnce<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const queue = tasks.entries();
  const work = async () => {
    for (const [index, task] of queue) results[index] = await task();
  };
  await Promise.all(Array.from({ length: CONNECTIONS_MAX }, work));
  return results;
}
