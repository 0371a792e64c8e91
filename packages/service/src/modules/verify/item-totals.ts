import type { Measurement } from './compare.js';

/** Sums of the charge items of a project's day, as either store returns them. */
export interface ItemTotals {
  readonly tenantId: string;
  readonly projectId: string;
  readonly day: number;
  readonly metric: string;
  readonly unit: string;
  readonly currency: string;
  readonly itemCount: string;
  readonly quantity: string;
  readonly amount: string;
}

export function itemMeasurements({ itemCount, quantity, amount, ...key }: ItemTotals): Measurement[] {
  return [
    { ...key, measure: 'item_count', value: itemCount },
    { ...key, measure: 'quantity', value: quantity },
    { ...key, measure: 'amount', value: amount },
  ];
}
