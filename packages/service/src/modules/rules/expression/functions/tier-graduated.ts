import { add, compare, type Decimal, mul, sub, ZERO } from '../../../../kernel/decimal.js';
import { type Tier, tieredFunction } from './tier-table.js';

/** Each part of the quantity at the price of the tier it lies in. */
function graduated(quantity: Decimal, tiers: readonly Tier[]): Decimal | undefined {
  let amount = ZERO;
  let charged = ZERO;
  for (const { upTo, unitPrice } of tiers) {
    if (upTo === undefined || compare(quantity, upTo) <= 0) {
      return add(amount, mul(sub(quantity, charged), unitPrice));
    }
    amount = add(amount, mul(sub(upTo, charged), unitPrice));
    charged = upTo;
  }
  return undefined;
}

export const tierGraduated = tieredFunction('tier_graduated', graduated);
