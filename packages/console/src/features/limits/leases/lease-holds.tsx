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
    <span key={unitOfHold(hold)} className="tabular block">
      {holdText(hold, of)}
    </span>
  ));
}

/** A value of a hold with its currency or metric. */
export function holdText(hold: LeaseHold, of: HoldValue): string {
  return `${decimalExact(of === 'reserved' ? reservedBy(hold) : hold[of])} ${unitOfHold(hold)}`;
}

/** The amount or quantity that was reserved. */
export function reservedBy({ amount, quantity }: LeaseHold): string {
  return amount ?? quantity ?? '';
}

/** The currency or metric of a hold. A lease has one hold of each at most, and no metric looks like a currency. */
export function unitOfHold({ currency, metric }: LeaseHold): string {
  return currency ?? metric ?? '';
}

/** The dimensions of the work of a lease. */
export function dimensionsText({ dimensions }: Pick<BudgetLease, 'dimensions'>): string {
  const texts = Object.entries(dimensions).map(([name, text]) => `${name} = ${text}`);
  return texts.join(', ') || 'Any';
}
