import type { BudgetLease, LeaseHold } from '@tollgate/contract';
import { decimalExact } from '../../../format.js';

/** A value of a hold: what was reserved, what of it is used, and what still remains. */
export type HoldValue = 'reserved' | 'used' | 'remaining';

/** A value of everything that a lease holds, one below the other, with all digits. */
export function HoldValues({
  lease: { holds },
  of,
}: {
  readonly lease: Pick<BudgetLease, 'holds'>;
  readonly of: HoldValue;
}) {
  if (holds.length === 0) return 'Nothing';
  return holds.map((hold) => (
    <span key={unitOf(hold)} className="tabular block">
      {holdText(hold, of)}
    </span>
  ));
}

/** A value of a hold with its currency or metric. */
export function holdText(hold: LeaseHold, of: HoldValue): string {
  const value = of === 'reserved' ? (hold.amount ?? hold.quantity ?? '') : hold[of];
  return `${decimalExact(value)} ${unitOf(hold)}`;
}

function unitOf({ currency, metric }: LeaseHold): string {
  return currency ?? metric ?? '';
}
