import type { UsageItemExplanation } from '@tollgate/contract';
import { decimalExact } from './format.js';

/** The expression of a price, with the number of units that it is the price of unless that is one. */
export function priceText(expression: string, pricingUnit: string | number | null | undefined): string {
  return pricingUnit == null ? expression : `${expression} per ${decimalExact(String(pricingUnit))}`;
}

/** The paths that a quantity was read from, as a formula; null if no path was. */
export function quantityText({
  path,
  sum_paths: sumPaths,
  less_paths: lessPaths,
}: Pick<UsageItemExplanation['quantity'], 'path' | 'sum_paths' | 'less_paths'>): string | null {
  const added = [path ?? [], sumPaths].flat();
  return added.length === 0 ? null : [added.join(' + '), ...lessPaths].join(' − ');
}
