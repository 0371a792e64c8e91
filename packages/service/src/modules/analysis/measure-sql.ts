import {
  isOfCosts,
  isOfQuantities,
  isUnique,
  type Measure,
  type QuantityMeasure,
  type UniqueMeasure,
  uniqueName,
} from '@tollgate/contract';
import { reservedColumn } from '../usage/index.js';

/**
 * The values of an item, or of a row of the rollup, from which measures are computed. `value` is the quantity of a
 * single item, and `least` and `greatest` are the bounds of the quantities that were compared. `compared` is the number
 * of items whose quantities were, `countered` that of items that reversal rows took back in a row of the rollup, and
 * `cost_count` that of items with a cost.
 */
export type Part = SummedPart | 'value' | 'least' | 'greatest';
type SummedPart = 'count' | 'quantity' | 'amount' | 'compared' | 'countered' | 'cost' | 'cost_count';

/** Rows to measure: how they are grouped, and what is measured. */
export interface Grouping {
  /** Expressions of the keys with their aliases, and the aliases. */
  readonly columns: readonly string[];
  readonly keys: readonly string[];
  readonly measures: readonly Measure[];
  /** Whether each row also gets the first and the last of its units, because their quantities are added or compared. */
  readonly findsUnits: boolean;
  /** Whether rows of which only amounts are left, those of remainders of corrections, are kept. */
  readonly keepsAmounts: boolean;
  /** Whether rows of which only costs are left are kept. */
  readonly keepsCosts: boolean;
}

type Percentile = Exclude<QuantityMeasure, 'minimum' | 'maximum' | 'average'>;
const PERCENTS = { p50: 50, p90: 90, p95: 95, p99: 99 } as const satisfies Record<Percentile, number>;

/**
 * Reversal rows take back their revisions, so a sum of which nothing is left counts 0: it would not exist if the
 * corrected events had never been sent. Sums of UInt64 wrap around, which is exact.
 */
const COUNT = 'sum(part_count)';
const isLeft = ({ keepsAmounts, keepsCosts }: Pick<Grouping, 'keepsAmounts' | 'keepsCosts'>) => {
  const sums = [
    COUNT,
    ...(keepsCosts ? ['sum(part_cost_count)'] : []),
    ...(keepsAmounts ? ['sum(part_amount)'] : []),
  ];
  return `(${sums.map((sum) => `${sum} != 0`).join(' OR ')})`;
};
const COEFFICIENT = "toDecimal256('1000000000000000000', 0)";
const LAST_DIGIT = "toDecimal256('0.000000000000000001', 18)";

/** Columns that rollups lack: they are summed over subjects of one type, accounts and sources of prices. */
const EVENTS_ONLY: readonly (string | undefined)[] = ['subject_id', 'account_id', 'pricing_source'];

/** Whether only events have the values of a name. */
export function isInEventsOnly(name: string): boolean {
  return EVENTS_ONLY.includes(reservedColumn(name));
}

/** Whether a measure compares values of single charge items that only events have: quantities, or e.g. subjects. */
export function needsEvents(measure: Measure): boolean {
  const name = isUnique(measure) ? uniqueName(measure) : undefined;
  return isPercentile(measure) || (name !== undefined && isInEventsOnly(name));
}

/** Whether a measure depends on which single charge items are in force. */
export function comparesItems(measure: Measure): boolean {
  return measure === 'minimum' || measure === 'maximum' || needsEvents(measure);
}

/** Whether a measure adds or compares quantities, which is not possible for different units. */
export function needsOneUnit(measure: Measure): boolean {
  return measure === 'quantity' || isOfQuantities(measure);
}

/** The parts that measures are computed from; always the count, which tells where nothing is left. */
export function partsOf(measures: readonly Measure[]): Part[] {
  const parts = new Set<Part>(['count']);
  for (const measure of measures) {
    if (measure === 'quantity' || measure === 'average') parts.add('quantity');
    if (measure === 'amount' || measure === 'margin') parts.add('amount');
    if (isOfCosts(measure)) parts.add('cost').add('cost_count');
    if (measure === 'minimum') parts.add('least');
    if (measure === 'maximum') parts.add('greatest');
    if (isPercentile(measure)) parts.add('value');
    if (comparesItems(measure)) parts.add('compared').add('countered');
  }
  return [...parts];
}

/** Returns the column of a measure in a result: names of dimensions are never part of a statement. */
export function measureColumn(index: number): string {
  return `measure_${index}`;
}

/** Returns the column of the value that a measure counts, in the rows to measure. */
export function uniqueColumn(measures: readonly Measure[], measure: UniqueMeasure): string {
  return `unique_${measures.indexOf(measure)}`;
}

/**
 * Returns the keys and measures of the rows of `from`, without those of which nothing is left.
 *
 * Sums need no more than the signs of reversal rows. Percentiles and subjects are read from events, which tell whether
 * a charge item is in force. Different values that rollups may have are counted by value, and values of which nothing
 * is left are dropped. `is_torn` marks a row that may compare other charge items than those in force (`TORN`).
 */
export function measuredSql(from: string, grouping: Grouping): string {
  const { keys, measures, findsUnits } = grouping;
  const aggregated = measures.some(needsEvents)
    ? ofItemsInForceSql(from, grouping)
    : ofPartsSql(from, grouping);
  // Where only amounts or costs are left, there are no quantities and no units.
  const ofItems = (value: string) => `if(count_sum = 0, NULL, ${value})`;
  const units = [`${ofItems('least_unit')} AS first_unit`, `${ofItems('greatest_unit')} AS last_unit`];
  const more = [...(findsUnits ? units : []), ...(measures.some(comparesItems) ? ['is_torn'] : [])];
  const values = measures.map((measure, i) => {
    const value = measureSql(measures, measure);
    return `${isOfQuantities(measure) ? ofItems(value) : value} AS ${measureColumn(i)}`;
  });
  return `SELECT ${[...keys, ...more, ...values].join(', ')} FROM (${aggregated})`;
}

/**
 * Whether a row compares other charge items than those in force: a correction arrived between the reads of charge items
 * and of reversal rows, or a row of the rollup has items that were countered, or stored before quantities were
 * compared.
 */
const TORN = `(sum(part_countered) != 0 OR sum(part_compared) != ${COUNT})`;

/**
 * The quantities in force in ascending order. Almost all have at most six digits after the point and are smaller than
 * 9 × 10^12: integers of millionths sort in a fraction of the time. Only where a group has others, all of its
 * quantities are sorted as decimals.
 */
const ASCENDING = [
  'arraySort(groupArrayIf(part_millionths, in_force AND part_is_short)) AS ascending_short',
  'groupArrayIf(part_value, in_force AND NOT part_is_short) AS long_values',
  `arraySort(arrayConcat(long_values, arrayMap(short -> CAST(toDecimal256(short, 18) / 1000000 AS Decimal(38, 18)),
    if(empty(long_values), [], ascending_short)))) AS ascending_long`,
];

function ofItemsInForceSql(from: string, grouping: Grouping): string {
  const { columns, keys, measures, findsUnits } = grouping;
  const selected = [
    ...columns,
    ...sumsOf(measures).map((part) => `sum(part_${part}) AS ${part}_sum`),
    ...extremesOf(measures).map((part) => `${EXTREMES[part]}(part_${part}) AS ${part}_value`),
    `${TORN} AS is_torn`,
    ...(findsUnits ? ['minIf(unit, in_force) AS least_unit', 'maxIf(unit, in_force) AS greatest_unit'] : []),
    ...(measures.some(isPercentile) ? ASCENDING : []),
    ...uniqueColumns(measures).map(
      (column) => `uniqExactIf(${column}, in_force AND ${column} != 0) AS ${column}_count`,
    ),
  ];
  return `SELECT ${selected.join(', ')} FROM (${from}) GROUP BY ${keys.join(', ')} HAVING ${isLeft(grouping)}`;
}

function ofPartsSql(from: string, grouping: Grouping): string {
  const { columns, keys, measures, findsUnits } = grouping;
  const sets = uniqueColumns(measures);
  if (sets.length > 0 || findsUnits)
    return aggregatedByValueSql(countedByValueSql(from, grouping, sets), grouping, sets);
  const selected = [
    ...columns,
    ...sumsOf(measures).map((part) => `sum(part_${part}) AS ${part}_sum`),
    ...extremesOf(measures).map((part) => `${EXTREMES[part]}(part_${part}) AS ${part}_value`),
    ...(measures.some(comparesItems) ? [`${TORN} AS is_torn`] : []),
  ];
  return `SELECT ${selected.join(', ')} FROM (${from}) GROUP BY ${keys.join(', ')} HAVING ${isLeft(grouping)}`;
}

const EXTREMES = { least: 'min', greatest: 'max' } as const satisfies Partial<Record<Part, string>>;
type Extreme = keyof typeof EXTREMES;

function extremesOf(measures: readonly Measure[]): Extreme[] {
  return partsOf(measures).filter((part): part is Extreme => Object.hasOwn(EXTREMES, part));
}

/** The parts that measures are computed from as sums. */
function sumsOf(measures: readonly Measure[]): Part[] {
  const compared: readonly Part[] = ['value', 'least', 'greatest', 'compared', 'countered'];
  return partsOf(measures).filter((part) => !compared.includes(part));
}

function uniqueColumns(measures: readonly Measure[]): string[] {
  return measures.filter(isUnique).map((measure) => uniqueColumn(measures, measure));
}

/**
 * Counts and sums of each value within each group, in one pass with a grouping set for each measure; `of_<column>` says
 * which of the values a row is of.
 */
function countedByValueSql(from: string, grouping: Grouping, sets: readonly string[]): string {
  const { columns, keys, measures, findsUnits } = grouping;
  const unit = findsUnits ? ['unit'] : [];
  const selected = [
    ...columns,
    ...unit,
    ...sets,
    ...sets.map((set) => `grouping(${set}) = 0 AS of_${set}`),
    ...sumsOf(measures).map((part) => `sum(part_${part}) AS value_${part}`),
    ...extremesOf(measures).map((part) => `${EXTREMES[part]}(part_${part}) AS value_${part}`),
    ...(measures.some(comparesItems) ? [`${TORN} AS is_value_torn`] : []),
  ];
  const groups =
    sets.length === 0
      ? [...keys, ...unit].join(', ')
      : `GROUPING SETS (${sets.map((set) => `(${[...keys, ...unit, set].join(', ')})`).join(', ')})`;
  return `SELECT ${selected.join(', ')} FROM (${from}) GROUP BY ${groups} HAVING ${isLeft(grouping)}`;
}

function aggregatedByValueSql(
  from: string,
  { keys, measures, findsUnits }: Grouping,
  sets: readonly string[],
): string {
  const isFirst = sets[0] === undefined ? 'true' : `of_${sets[0]}`;
  const selected = [
    ...keys,
    ...(findsUnits
      ? ['minIf(unit, value_count != 0) AS least_unit', 'maxIf(unit, value_count != 0) AS greatest_unit']
      : []),
    ...sumsOf(measures).map((part) => `sumIf(value_${part}, ${isFirst}) AS ${part}_sum`),
    ...extremesOf(measures).map((part) => `${EXTREMES[part]}(value_${part}) AS ${part}_value`),
    ...(measures.some(comparesItems) ? ['max(is_value_torn) AS is_torn'] : []),
    ...sets.map((set) => `countIf(of_${set} AND isNotNull(${set}) AND value_count != 0) AS ${set}_count`),
  ];
  return `SELECT ${selected.join(', ')} FROM (${from}) GROUP BY ${keys.join(', ')}`;
}

function measureSql(measures: readonly Measure[], measure: Measure): string {
  if (isUnique(measure)) return `${uniqueColumn(measures, measure)}_count`;
  switch (measure) {
    case 'item_count':
      return 'count_sum';
    case 'quantity':
    case 'amount':
    case 'cost':
      return `${measure}_sum`;
    case 'margin':
      return 'amount_sum - cost_sum';
    case 'minimum':
      return 'least_value';
    case 'maximum':
      return 'greatest_value';
    case 'average':
      return averageSql('quantity_sum', 'count_sum');
    default:
      return percentileSql(PERCENTS[measure]);
  }
}

function isPercentile(measure: Measure): measure is Percentile {
  return Object.hasOwn(PERCENTS, measure);
}

/** Returns `sum / count` rounded half-even to 18 digits: division cuts off, and the rest decides on the last digit. */
function averageSql(sum: string, count: string): string {
  const cut = `(${sum} / greatest(${count}, 1))`;
  const twiceTheRest = `2 * toInt256(abs(${sum} - ${cut} * ${count}) * ${COEFFICIENT})`;
  const isOdd = `toInt256(${cut} * ${COEFFICIENT}) % 2 != 0`;
  const isRounded = `${twiceTheRest} > ${count} OR (${twiceTheRest} = ${count} AND ${isOdd})`;
  return `${cut} + if(${isRounded}, sign(${sum}), 0) * ${LAST_DIGIT}`;
}

/**
 * Returns the value at rank `(n − 1) × percent / 100` of n ascending values; the first rank is 0. Between two ranks, it
 * is the value on the straight line between their values. Two more digits than the values have make it exact.
 */
function percentileSql(percent: number): string {
  const rank = `((toInt64(greatest(length(ascending_short), length(ascending_long))) - 1) * ${percent})`;
  const valueAt = (place: string) =>
    `if(empty(ascending_long), toDecimal256(ascending_short[${place} + 1], 20) / 1000000,
      CAST(ascending_long[${place} + 1] AS Decimal(76, 20)))`;
  const below = `intDiv(${rank}, 100)`;
  const above = `intDiv(${rank} + 99, 100)`;
  return `(${valueAt(below)} * (100 - ${rank} % 100) + ${valueAt(above)} * (${rank} % 100)) / 100`;
}
