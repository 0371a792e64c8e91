import { type AnalysisRow, isOfQuantities, isUnique } from '@tollgate/contract';
import { parseDecimal, toText } from '../../kernel/decimal.js';
import { ClickHouseUnavailableError } from '../../platform/clickhouse/index.js';
import type { ProjectHistory } from '../storage/index.js';
import { measureColumn } from './measure-sql.js';
import { addsUnits, type PlannedQuery } from './planned-query.js';
import { analysisStatement, unlikeSpansStatement } from './query-sql.js';
import { joinedSpans, readingEvents, type TimeSpan } from './source.js';

/** A row as ClickHouse returns it: 64-bit integers and decimals are strings. */
type StoredRow = Readonly<Record<string, string | number | null>>;

/** The rows of a result, and the units of the quantities that were added up in them. */
export interface FoundRows {
  /** Ordered; one more than the limit of the query when there are more. */
  readonly rows: readonly AnalysisRow[];
  /** Sorted; empty text means no unit. At least two when a row adds up, or rows mix, several units. */
  readonly addedUnits: readonly string[];
}

/** Upper bound of the reads of one query, where corrections arrive during each. */
const READS_MAX = 5;
/** Upper bound of the spans of time whose events are read instead of the rollup: each is a condition. */
const UNLIKE_SPANS_MAX = 100;

/** Returns the rows of an analysis query. */
export async function analysisRows(
  history: Pick<ProjectHistory, 'query' | 'tables'>,
  query: PlannedQuery,
): Promise<FoundRows> {
  if (query.sources.length === 0) return { rows: [], addedUnits: [] };
  const rows = await wholeRows(history, query);
  const units = addsUnits(query)
    ? rows.flatMap((row) => [row.first_unit, row.last_unit].filter((unit) => unit !== null).map(String))
    : [];
  return { rows: rows.map((row) => toRow(row, query)), addedUnits: [...new Set(units)].sort() };
}

function toRow(row: StoredRow, query: PlannedQuery): AnalysisRow {
  const { dimensions, measures, splitsMetrics, bucketStarts, groupsMax } = query;
  const answered: AnalysisRow = {
    bucket: bucketStarts.length === 0 ? null : Number(row.bucket_start),
    metric: splitsMetrics ? String(row.metric) : null,
    unit: splitsMetrics ? textOrNull(row.unit) : null,
    currency: textOrNull(row.currency),
    // Unlike an assignment this treats `__proto__` as a name like any other.
    group: Object.fromEntries(dimensions.map((name, i) => [name, nullableText(row[`group_${i}`])])),
  };
  if (groupsMax !== undefined) answered.other = Number(row.is_other) === 1;
  for (const [index, measure] of measures.entries()) {
    const value = row[measureColumn(index)];
    if (measure === 'item_count' || isUnique(measure)) answered[measure] = Number(value);
    else if (isOfQuantities(measure)) answered[measure] = value === null ? null : decimalOf(value);
    else answered[measure] = decimalOf(value);
  }
  return answered;
}

/**
 * Reads rows until no correction arrives meanwhile. Rows of the rollup that cannot be compared show in the first
 * result; then the events of their time are read.
 *
 * @throws ClickHouseUnavailableError if a correction arrives during each read
 */
async function wholeRows(
  history: Pick<ProjectHistory, 'query' | 'tables'>,
  query: PlannedQuery,
): Promise<StoredRow[]> {
  let { sources } = query;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const { sql, params } = analysisStatement(history.tables, { ...query, sources });
    const rows = await history.query<StoredRow>(sql, { ...params });
    if (!rows.some(isTorn)) return rows;
    sources = readingEvents(query.sources, await unlikeSpans(history, query));
  }
  throw new ClickHouseUnavailableError('usage was corrected during each read of it');
}

/** Returns the time of the rows of rollups whose minimum and maximum are not those of the charge items in force. */
async function unlikeSpans(
  history: Pick<ProjectHistory, 'query' | 'tables'>,
  query: PlannedQuery,
): Promise<TimeSpan[]> {
  const statement = unlikeSpansStatement(history.tables, query);
  if (statement === undefined) return [];
  const rows = await history.query<Record<'from' | 'to', number | string>>(statement.sql, {
    ...statement.params,
  });
  const spans = rows.map(({ from, to }) => ({ from: Number(from), to: Number(to) }));
  return joinedSpans(spans, UNLIKE_SPANS_MAX);
}

/** Whether a row may compare other charge items than those in force. */
function isTorn({ is_torn: torn = 0 }: StoredRow): boolean {
  return Number(torn) !== 0;
}

function decimalOf(value: string | number | null | undefined): string {
  const decimal = parseDecimal(String(value));
  if (decimal === undefined) throw new Error(`ClickHouse returned ${value} for a decimal`);
  return toText(decimal);
}

function nullableText(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** The store has an empty text where there is no unit or currency. */
function textOrNull(value: string | number | null | undefined): string | null {
  return value === '' ? null : nullableText(value);
}
