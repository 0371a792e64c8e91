import type { Measure } from '@tollgate/contract';

export const MEASURE_LABELS: Readonly<Record<Measure, string>> = {
  item_count: 'Items',
  quantity: 'Quantity',
  amount: 'Amount',
};

/** The measure to draw first: the amount, if the chart has it. */
export function preferredMeasure(measures: readonly Measure[]): Measure {
  return (
    (['amount', 'quantity', 'item_count'] as const).find((measure) => measures.includes(measure)) ?? 'amount'
  );
}
