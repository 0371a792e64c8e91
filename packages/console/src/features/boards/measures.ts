import { type MEASURES, type Measure, uniqueName } from '@tollgate/contract';

const LABELS: Readonly<Record<(typeof MEASURES)[number], string>> = {
  item_count: 'Items',
  quantity: 'Quantity',
  amount: 'Amount',
  minimum: 'Minimum',
  maximum: 'Maximum',
  average: 'Average',
  p50: 'Median',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
};

/** The name of a measure for people. */
export function measureLabel(measure: Measure): string {
  const unique = uniqueName(measure);
  return unique === undefined ? LABELS[measure as keyof typeof LABELS] : `Unique ${unique}`;
}

/** The measure to draw first: the amount, if the chart has it. */
export function preferredMeasure(measures: readonly Measure[]): Measure {
  return (
    (['amount', 'quantity', 'item_count'] as const).find((measure) => measures.includes(measure)) ??
    measures[0] ??
    'amount'
  );
}
