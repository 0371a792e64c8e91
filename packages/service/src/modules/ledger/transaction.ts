import type { LedgerKind } from '@tollgate/contract';
import { amountText } from './amount.js';
import type { LedgerEntry, WalletKey } from './wallet.js';

/** One immutable movement of one wallet. */
export interface LedgerTransaction extends WalletKey {
  /** `led_…`. */
  readonly id: string;
  readonly kind: LedgerKind;
  readonly description: string | null;
  readonly createdAtMs: number;
  readonly entries: readonly LedgerEntry[];
}

/** A bug: nothing is written, and the database transaction ends. */
export class UnbalancedTransactionError extends Error {
  override readonly name = 'UnbalancedTransactionError';
}

/**
 * Called before every write.
 *
 * @throws UnbalancedTransactionError unless there are lines, and they add up to zero
 */
export function assertBalanced({ id, kind, entries }: LedgerTransaction): void {
  let sum = 0n;
  for (const { amount } of entries) sum += amount;
  if (sum === 0n && entries.length > 0) return;
  throw new UnbalancedTransactionError(
    `the ${entries.length} lines of ${kind} transaction ${id} add up to ${amountText(sum)}`,
  );
}
