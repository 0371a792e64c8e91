import { isOfCosts, type MEASURES, type Measure, uniqueName } from '@tollgate/contract';
import { nameLabel } from './metrics.js';

const LABELS: Readonly<Record<(typeof MEASURES)[number], string>> = {
  item_count: 'Items',
  quantity: 'Quantity',
  amount: 'Amount',
  cost: 'Cost',
  margin: 'Margin',
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
  return unique === undefined ? LABELS[measure as keyof typeof LABELS] : `Unique ${nameLabel(unique)}`;
}

/**
 * The measure to draw first: the first of the chart if it is a cost or margin, or decides which groups are drawn;
 * otherwise the amount, if there is one.
 */
export function preferredMeasure(measures: readonly Measure[], isLimited: boolean): Measure {
  const [first] = measures;
  if (first !== undefined && (isLimited || isOfCosts(first))) return first;
  return (
    (['amount', 'quantity', 'item_count'] as const).find((measure) => measures.includes(measure)) ??
    first ??
    'amount'
  );
}
