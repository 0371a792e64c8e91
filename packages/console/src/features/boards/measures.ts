import type { Measure } from '@tollgate/contract';

export const MEASURE_LABELS: Readonly<Record<Measure, string>> = {
  item_count: 'Items',
  quantity: 'Quantity',
  amount: 'Amount',
};

/** Money first, where it is asked for. */
export function preferredMeasure(measures: readonly Measure[]): Measure {
  return (
    (['amount', 'quantity', 'item_count'] as const).find((measure) => measures.includes(measure)) ?? 'amount'
  );
}
