import { compare, type Decimal, mul } from '../../../../kernel/decimal.js';
import { type Tier, tieredFunction } from './tier-table.js';

/** The whole quantity at the price of the tier it reaches. */
function volume(quantity: Decimal, tiers: readonly Tier[]): Decimal | undefined {
  const reached = tiers.find(({ upTo }) => upTo === undefined || compare(quantity, upTo) <= 0);
  return reached && mul(quantity, reached.unitPrice);
}

export const tierVolume = tieredFunction('tier_volume', volume);
