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
  readonly cost: string;
  /** Number of charge items with a cost in this currency. */
  readonly costCount: string;
}

/** Costs are left out where there are none, which means the same. */
export function itemMeasurements(totals: ItemTotals): Measurement[] {
  const { itemCount, quantity, amount, cost, costCount, ...key } = totals;
  const costs: Measurement[] = [
    { ...key, measure: 'cost', value: cost },
    { ...key, measure: 'cost_count', value: costCount },
  ];
  return [
    { ...key, measure: 'item_count', value: itemCount },
    { ...key, measure: 'quantity', value: quantity },
    { ...key, measure: 'amount', value: amount },
    ...(costCount === '0' && Number(cost) === 0 ? [] : costs),
  ];
}
