import { Type } from 'typebox';
import { IDENTIFIER_CHARS_MAX } from './limits.js';

/** Measures of a query that names none. */
export const MEASURES_DEFAULT = ['item_count', 'quantity', 'amount'] as const;
/** Measures of what charge items cost. A cost counts in the row of its own currency. */
export const COST_MEASURES = ['cost', 'margin'] as const;
/** Measures that are sums over charge items, which rows of any part of the usage add up to. */
export const SUM_MEASURES = [...MEASURES_DEFAULT, ...COST_MEASURES] as const;
/** Measures of how the quantities of single charge items are distributed. Those of parts do not add up. */
export const QUANTITY_MEASURES = ['minimum', 'maximum', 'average', 'p50', 'p90', 'p95', 'p99'] as const;
export type QuantityMeasure = (typeof QUANTITY_MEASURES)[number];
/** All measures but `unique:…`. */
export const MEASURES = [...SUM_MEASURES, ...QUANTITY_MEASURES] as const;

/** Precedes the name of a dimension, or a reserved name, in a measure that counts its different values. */
export const UNIQUE_PREFIX = 'unique:';
export type UniqueMeasure = `unique:${string}`;
export type Measure = (typeof MEASURES)[number] | UniqueMeasure;

/** Upper bounds of the measures of a query, and of those that count different values. */
export const ANALYSIS_MEASURES_MAX = 16;
export const ANALYSIS_UNIQUES_MAX = 4;

/** Returns the dimension or reserved name whose different values a measure counts; undefined for other measures. */
export function uniqueName(measure: Measure): string | undefined {
  return isUnique(measure) ? measure.slice(UNIQUE_PREFIX.length) : undefined;
}

export function isUnique(measure: Measure): measure is UniqueMeasure {
  return measure.startsWith(UNIQUE_PREFIX);
}

export function isOfQuantities(measure: Measure): measure is QuantityMeasure {
  return QUANTITY_MEASURES.some((each) => each === measure);
}

/** Whether the values are money, of which each currency is apart. */
export function isOfMoney(measure: Measure): boolean {
  return measure === 'amount' || isOfCosts(measure);
}

/** Whether the measure needs the costs of charge items. */
export function isOfCosts(measure: Measure): measure is (typeof COST_MEASURES)[number] {
  return COST_MEASURES.some((each) => each === measure);
}

/** Whether the values of parts of the usage add up to that of the whole. */
export function isSum(measure: Measure): measure is (typeof SUM_MEASURES)[number] {
  return SUM_MEASURES.some((each) => each === measure);
}

/** Pattern of the fields of a row that count different values. */
export const UNIQUE_FIELD_PATTERN = `^${UNIQUE_PREFIX}`;

export const MeasureSchema = Type.Unsafe<Measure>({
  anyOf: [
    { type: 'string', enum: [...MEASURES] },
    {
      type: 'string',
      pattern: UNIQUE_FIELD_PATTERN,
      minLength: UNIQUE_PREFIX.length + 1,
      maxLength: UNIQUE_PREFIX.length + IDENTIFIER_CHARS_MAX,
    },
  ],
  description:
    '`item_count`, `quantity` and `amount` are sums of charge items. `cost` is the sum of their costs, and `margin` is `amount` ' +
    'less `cost`; a cost in another currency than the price counts in the row of its own currency. `minimum`, `maximum`, `average` (rounded half-even to 18 ' +
    'digits), `p50`, `p90`, `p95` and `p99` (linear between the closest ranks) are those of their quantities. `unique:` and ' +
    'a dimension or reserved name, as in `unique:@subject_id`, counts different values; charge items without a value ' +
    'count none.',
});
