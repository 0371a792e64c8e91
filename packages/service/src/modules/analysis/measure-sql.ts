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
 * The values of an item, or of a row of the rollup, from which measures are computed; `cost_count` is the number of
 * items with a cost.
 */
export type Part = 'count' | 'quantity' | 'amount' | 'value' | 'cost' | 'cost_count';

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
 * Counter rows take back their revisions, so a sum of which nothing is left counts 0: it would not exist if the
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

/** Whether a measure compares the quantities of single charge items. */
function readsValues(measure: Measure): boolean {
  return isOfQuantities(measure) && measure !== 'average';
}

/** Whether a measure compares values of single charge items that only events have: quantities, or e.g. subjects. */
export function comparesItems(measure: Measure): boolean {
  const name = isUnique(measure) ? uniqueName(measure) : undefined;
  return readsValues(measure) || (name !== undefined && isInEventsOnly(name));
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
    if (readsValues(measure)) parts.add('value');
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
 * Sums need no more than the signs of counter rows. Quantities and subjects are compared where events are read, which
 * tell whether a charge item is in force. Different values that rollups may have are counted by value, and values of
 * which nothing is left are dropped.
 */
export function measuredSql(from: string, grouping: Grouping): string {
  const { keys, measures, findsUnits } = grouping;
  const readsItems = measures.some(comparesItems);
  const aggregated = readsItems ? ofItemsInForceSql(from, grouping) : ofPartsSql(from, grouping);
  // Where only amounts or costs are left, there are no quantities and no units.
  const ofItems = (value: string) => `if(count_sum = 0, NULL, ${value})`;
  const units = [`${ofItems('least_unit')} AS first_unit`, `${ofItems('greatest_unit')} AS last_unit`];
  const more = [...(findsUnits ? units : []), ...(readsItems ? ['is_torn'] : [])];
  const values = measures.map((measure, i) => {
    const value = measureSql(measures, measure);
    return `${isOfQuantities(measure) ? ofItems(value) : value} AS ${measureColumn(i)}`;
  });
  return `SELECT ${[...keys, ...more, ...values].join(', ')} FROM (${aggregated})`;
}

/** A row is torn when a correction arrived between the reads of charge items and of counter rows. */
function ofItemsInForceSql(from: string, grouping: Grouping): string {
  const { columns, keys, measures, findsUnits } = grouping;
  const selected = [
    ...columns,
    ...sumsOf(measures).map((part) => `sum(part_${part}) AS ${part}_sum`),
    `countIf(in_force) != ${COUNT} AS is_torn`,
    ...(findsUnits ? ['minIf(unit, in_force) AS least_unit', 'maxIf(unit, in_force) AS greatest_unit'] : []),
    ...(measures.includes('minimum') ? ['minIf(part_value, in_force) AS least'] : []),
    ...(measures.includes('maximum') ? ['maxIf(part_value, in_force) AS greatest'] : []),
    ...(measures.some(isPercentile) ? ['arraySort(groupArrayIf(part_value, in_force)) AS ascending'] : []),
    ...uniqueColumns(measures).map((column) => `uniqExactIf(${column}, in_force) AS ${column}_count`),
  ];
  return `SELECT ${selected.join(', ')} FROM (${from}) GROUP BY ${keys.join(', ')} HAVING ${isLeft(grouping)}`;
}

function ofPartsSql(from: string, grouping: Grouping): string {
  const { columns, keys, measures, findsUnits } = grouping;
  const sets = uniqueColumns(measures);
  if (sets.length > 0 || findsUnits)
    return aggregatedByValueSql(countedByValueSql(from, grouping, sets), grouping, sets);
  const sums = sumsOf(measures).map((part) => `sum(part_${part}) AS ${part}_sum`);
  return `SELECT ${[...columns, ...sums].join(', ')} FROM (${from}) GROUP BY ${keys.join(', ')} HAVING ${isLeft(grouping)}`;
}

function sumsOf(measures: readonly Measure[]): Part[] {
  return partsOf(measures).filter((part) => part !== 'value');
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
      return 'least';
    case 'maximum':
      return 'greatest';
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
  const rank = `((toInt64(length(ascending)) - 1) * ${percent})`;
  const valueAt = (place: string) => `CAST(ascending[${place} + 1] AS Decimal(76, 20))`;
  const below = `intDiv(${rank}, 100)`;
  const above = `intDiv(${rank} + 99, 100)`;
  return `(${valueAt(below)} * (100 - ${rank} % 100) + ${valueAt(above)} * (${rank} % 100)) / 100`;
}
