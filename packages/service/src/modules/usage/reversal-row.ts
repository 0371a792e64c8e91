import type { UsageEventRow, UsageItemRow } from './row.js';

/** The fields of a reversal row that its event's former revision does not decide. */
export interface ReversalRowFields {
  readonly correctionId: string;
  /** When the correction was applied. */
  readonly processedAtMs: number;
  /** For each item, the ledger transaction that returned its amount, or an empty text; none if nothing was returned. */
  readonly itemTransactionIds: readonly string[];
}

/**
 * Returns the row that takes back a revision of an event: charge items of the opposite sign, with the same subject,
 * account, dimensions, rule set and notes, so that every sum that contains the revision also contains its reversal row.
 * The received JSON is left out, because the revision's own row keeps it.
 *
 * @param former the row of the last attempt of the revision
 */
export function reversalRow(former: UsageEventRow, fields: ReversalRowFields): UsageEventRow {
  if (former.isReversal) throw new RangeError('a reversal row cannot be taken back');
  return {
    ...former,
    correctionId: fields.correctionId,
    processedAtMs: fields.processedAtMs,
    itemTransactionIds: fields.itemTransactionIds,
    isReversal: true,
    rawJson: '',
    metadata: '',
    xBilling: '',
    items: former.items.map(negated),
  };
}

function negated(item: UsageItemRow): UsageItemRow {
  const cost = item.cost && { ...item.cost, amount: -item.cost.amount };
  return { ...item, quantity: -item.quantity, amount: -item.amount, discount: -item.discount, cost };
}
