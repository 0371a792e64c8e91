import { newId } from '../../../kernel/id.js';
import { sumOrNone } from '../../../kernel/present.js';
import type { CorrectionDebit, Release, UsageDebit } from '../../ledger/index.js';
import type { PostingScope } from './rated-usage.js';

/** The debit of one wallet by a batch. */
export interface WalletDebit {
  readonly scope: PostingScope;
  readonly accountId: string;
  readonly currency: string;
  /** `led_…`; its time is that of the batch. */
  readonly transactionId: string;
  itemCount: number;
  /** × 10^18. */
  amount: bigint;
}

/** The debits of one account, by currency. */
export class AccountDebits {
  readonly #scope: PostingScope;
  readonly #nowMs: number;
  readonly #byCurrency = new Map<string, WalletDebit>();

  constructor(
    readonly accountId: string,
    scope: PostingScope,
    nowMs: number,
  ) {
    this.#scope = scope;
    this.#nowMs = nowMs;
  }

  /** Returns the debit in a currency, with its transaction id; creates it when it is first asked for. */
  in(currency: string): WalletDebit {
    let debit = this.#byCurrency.get(currency);
    if (debit === undefined) {
      const transactionId = newId('led', { nowMs: () => this.#nowMs });
      const { accountId } = this,
        scope = this.#scope;
      debit = { scope, accountId, currency, transactionId, itemCount: 0, amount: 0n };
      this.#byCurrency.set(currency, debit);
    }
    return debit;
  }

  /** Returns the debits with charge items. */
  posted(): WalletDebit[] {
    return [...this.#byCurrency.values()].filter(({ itemCount }) => itemCount > 0);
  }
}

/** Returns the changes for the ledger: amounts to debit, and amounts that wallets need not hold any longer. */
export function usageDebits(debits: readonly WalletDebit[], releases: readonly Release[]): UsageDebit[] {
  const released = new Map(releases.map((release) => [walletKey(release), release]));
  const written = debits.map((debit): UsageDebit => {
    const { scope, accountId, currency, transactionId, amount } = debit;
    const { tenantId, projectId } = scope;
    const key = walletKey(debit);
    const held = sumOrNone(released.get(key)?.amount);
    released.delete(key);
    return { tenantId, projectId, accountId, currency, transactionId, amount, released: held };
  });
  // The subject has another account by now: the account that holds the lease is debited nothing.
  for (const { amount, ...wallet } of released.values()) {
    written.push({ ...wallet, transactionId: undefined, amount: 0n, released: amount });
  }
  return written;
}

/** Returns the change for the ledger that a correction makes. It releases nothing, because leases are not changed. */
export function correctionDebit(correctionId: string) {
  return ({ released: _none, transactionId, ...debit }: UsageDebit): CorrectionDebit => {
    if (transactionId === undefined) throw new Error('a correction has a debit without a transaction');
    return { ...debit, transactionId, correctionId };
  };
}

const walletKey = ({ accountId, currency }: { readonly accountId: string; readonly currency: string }) =>
  `${accountId} ${currency}`;
