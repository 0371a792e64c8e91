import type { UsageItemExplanation } from '@tollgate/contract';
import { decimalExact } from './format.js';

/** The expression of a price, followed by the pricing unit unless that is one. */
export function priceText(expression: string, pricingUnit: string | number | null | undefined): string {
  return pricingUnit == null ? expression : `${expression} per ${decimalExact(String(pricingUnit))}`;
}

/** The paths of a quantity as a formula; null if it was read from no path. */
export function quantityText({
  path,
  sum_paths: sumPaths,
  less_paths: lessPaths,
}: Pick<UsageItemExplanation['quantity'], 'path' | 'sum_paths' | 'less_paths'>): string | null {
  const added = [path ?? [], sumPaths].flat();
  return added.length === 0 ? null : [added.join(' + '), ...lessPaths].join(' − ');
}
