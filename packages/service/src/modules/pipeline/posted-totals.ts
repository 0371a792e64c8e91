import type { WalletDebit } from '../limits/index.js';
import type { UsageEventRow } from '../usage/index.js';

/** The posted amounts of a batch's rows, added up independently of the posting plan. */
export class PostedTotals {
  readonly #byTransaction = new Map<string, bigint>();

  addRow({ items, itemTransactionIds }: UsageEventRow): void {
    for (const [index, id] of itemTransactionIds.entries()) {
      if (id === '') continue;
      const item = items[index];
      if (item === undefined) throw new Error(`ledger transaction ${id} is named for a missing charge item`);
      this.#byTransaction.set(id, (this.#byTransaction.get(id) ?? 0n) + item.amount);
    }
  }

  /** @throws Error unless each debit is the sum of the charge items that name it: such a batch must not commit */
  assertEqual(debits: readonly WalletDebit[]): void {
    for (const { transactionId, amount } of debits) {
      if (this.#byTransaction.get(transactionId) !== amount) {
        throw new Error(`ledger transaction ${transactionId} is not the sum of its charge items`);
      }
    }
    if (debits.length !== this.#byTransaction.size) {
      throw new Error(
        `charge items name ${this.#byTransaction.size} ledger transactions, not ${debits.length}`,
      );
    }
  }
}
