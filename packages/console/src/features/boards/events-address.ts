import {
  ANALYSIS_FILTER_VALUES_MAX,
  ANALYSIS_FILTERS_MAX,
  type ChartQuery,
  type DimensionFilter,
  isOfCosts,
  isOfMoney,
  METRIC_PATTERN,
  type Measure,
  USAGE_FILTERS_CHARS_MAX,
} from '@tollgate/contract';
import { bucketEnd, bucketSizeOf } from './buckets.js';
import { type ChartData, rowsOf } from './chart-data.js';
import type { Series, SeriesPart } from './series.js';

/** The query and data behind the numbers of a chart. */
export interface Drawn {
  readonly query: ChartQuery;
  readonly data: ChartData;
  readonly measure: Measure;
  readonly series: readonly Series[];
}

/** Unix seconds, `to` exclusive. */
interface Bounds {
  readonly from: number;
  readonly to: number;
}

const METRIC = new RegExp(METRIC_PATTERN);

type Conditions = Record<string, DimensionFilter>;

/** Returns the part of a bucket that lies within the range. */
export function bucketBounds({ from, to, bucketSize, timezone }: ChartData, startS: number): Bounds {
  const size = bucketSizeOf(bucketSize);
  const endS = size === undefined ? to : bucketEnd(startS, size, timezone);
  return { from: Math.max(startS, from), to: Math.min(endS, to) };
}

/**
 * The filters that select exactly the events that a series sums, as parameters of the list of usage. Undefined if no
 * filters can: for others by several dimensions, or if some events lack the dimension.
 */
export function selectionOf(drawn: Drawn, one: Series): URLSearchParams | undefined {
  const { query, measure } = drawn;
  const ofGroups = hasOneUnit(drawn, one) ? groupConditions(drawn, one) : undefined;
  if (ofGroups === undefined) return undefined;
  return addressOf(query, metricsOf(query, one), currencyOf(measure, one.unit), {
    ...query.filters,
    ...ofGroups,
  });
}

/** The same for all series with the unit of this one together. */
export function selectionOfAll(drawn: Drawn, { unit }: Series): URLSearchParams | undefined {
  const { query, measure, series } = drawn;
  const alike = series.filter((each) => each.unit === unit);
  if (!alike.every((each) => hasOneUnit(drawn, each))) return undefined;
  const metrics = [...new Set(alike.flatMap((each) => metricsOf(query, each)))];
  return addressOf(query, metrics, currencyOf(measure, unit), { ...query.filters });
}

/** Adds a time range to a selection. */
export function between(selection: URLSearchParams, { from, to }: Bounds): URLSearchParams {
  return new URLSearchParams([...selection, ['from', String(from)], ['to', String(to)]]);
}

function addressOf(
  { subject_type: chartSubjectType }: ChartQuery,
  metrics: readonly string[],
  currency: string | undefined,
  conditions: Conditions,
): URLSearchParams | undefined {
  const address = new URLSearchParams({ status: 'processed' });
  // Other names cannot be metrics, and would break the list.
  const named = metrics.filter((metric) => METRIC.test(metric));
  if (named.length > 0) address.set('metric', named.join(', '));
  if (currency !== undefined) address.set('currency', currency);
  if (chartSubjectType !== undefined) address.set('subject_type', chartSubjectType);
  const rest = Object.entries(conditions).filter(([name, filter]) => !isField(address, name, filter));
  const text = JSON.stringify(Object.fromEntries(rest));
  if (isTooMuch(rest, text)) return undefined;
  if (rest.length > 0) address.set('filters', text);
  return address;
}

function isTooMuch(conditions: [string, DimensionFilter][], text: string): boolean {
  return (
    conditions.length > ANALYSIS_FILTERS_MAX ||
    text.length > USAGE_FILTERS_CHARS_MAX ||
    conditions.some(([, filter]) => (filter.in ?? filter.not_in ?? []).length > ANALYSIS_FILTER_VALUES_MAX)
  );
}

/** A single subject type or ID has its own parameter, unless that would trim the value. */
function isField(address: URLSearchParams, name: string, { in: values }: DimensionFilter): boolean {
  const [value, ...others] = values ?? [];
  const field = name.replace(/^@/, '');
  if (field !== 'subject_type' && field !== 'subject_id') return false;
  if (
    value === undefined ||
    others.length > 0 ||
    value.trim() !== value ||
    value === '' ||
    address.has(field)
  )
    return false;
  address.set(field, value);
  return true;
}

function currencyOf(measure: Measure, unit: string): string | undefined {
  return measure === 'amount' ? unit : undefined;
}

function metricsOf({ metrics = [] }: ChartQuery, { parts }: Series): readonly string[] {
  const own = new Set(parts.flatMap(({ metric }) => metric ?? []));
  return own.size > 0 ? [...own] : metrics;
}

/** Conditions on the dimensions that the chart is split by. */
function groupConditions(drawn: Drawn, one: Series): Conditions | undefined {
  const [first, ...others] = one.parts;
  if (first === undefined) return undefined;
  if (others.length === 0 && first.group !== undefined) return conditionsOf(first.group);
  const names = (drawn.query.group_by ?? []).filter((name) => name !== 'bucket');
  const [name, ...more] = names;
  if (name === undefined) return {};
  if (more.length > 0) return undefined;
  const condition = conditionOf(drawn, one, name);
  return condition && { [name]: condition };
}

function conditionsOf(group: NonNullable<SeriesPart['group']>): Conditions {
  return Object.fromEntries(
    Object.entries(group).map(([name, value]) => [
      name,
      value === null ? { exists: false } : { in: [value] },
    ]),
  );
}

/** The condition that events of several groups of one dimension meet, and no others of the chart. */
function conditionOf(drawn: Drawn, one: Series, name: string): DimensionFilter | undefined {
  const valuesOf = (parts: readonly SeriesPart[]) =>
    parts.flatMap(({ group }) => (group === undefined ? [] : [group[name] ?? null]));
  const own = valuesOf(one.parts);
  const isPastLimit = one.parts.some(({ group }) => group === undefined);
  if (!isPastLimit && !own.includes(null)) return { in: own.filter((value) => value !== null) };
  if (isPastLimit && !isRankedOnce(drawn, one)) return undefined;
  // Excludes the groups that are drawn separately. A condition can exclude values, but not events without a value.
  const separate = drawn.series.filter(
    ({ key, metric, unit }) => key !== one.key && metric === one.metric && unit === one.unit,
  );
  const excluded = valuesOf(separate.flatMap(({ parts }) => parts));
  const filter = drawn.query.filters?.[name];
  if (filter?.in !== undefined) return some(filter.in.filter((value) => !excluded.includes(value)));
  if (excluded.includes(null) || filter?.exists === true) return undefined;
  return { not_in: [...new Set([...(filter?.not_in ?? []), ...excluded.filter((value) => value !== null)])] };
}

function some(values: readonly string[]): DimensionFilter | undefined {
  return values.length === 0 ? undefined : { in: [...values] };
}

/** The usage list has no filter for units and currencies of costs, so one of several cannot be selected. */
function hasOneUnit({ measure, series }: Drawn, one: Series): boolean {
  return (
    (measure !== 'quantity' && !isOfCosts(measure)) ||
    series.every(({ metric, unit }) => metric !== one.metric || unit === one.unit)
  );
}

/**
 * Groups are ranked within their metric, unit and currency. A series of several of these may contain the others of
 * several rankings, which no filter selects.
 */
function isRankedOnce({ data, measure }: Drawn, one: Series): boolean {
  const rankings = rowsOf(data)
    .filter(({ metric, currency }) => metric === one.metric && (!isOfMoney(measure) || currency === one.unit))
    .map(({ unit, currency }) => `${unit}\n${currency}`);
  return new Set(rankings).size <= 1;
}
