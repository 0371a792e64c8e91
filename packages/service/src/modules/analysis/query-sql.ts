import { isUnique, type Measure, uniqueName } from '@tollgate/contract';
import { type HistoryScope, OWN_ROWS, type StorageTables } from '../storage/index.js';
import { type DimensionCondition, filterSql, reservedColumn, SIGN, StatementParams } from '../usage/index.js';
import { measureColumn, measuredSql, needsOneUnit, type Part, partsOf, uniqueColumn } from './measure-sql.js';
import { RESOLUTIONS_S, type SourcePart, type TimeSpan } from './source.js';

/** The project whose usage is read, and the start of its retention. Every query is confined to it. */
export type AnalysisScope = HistoryScope;

/** A query that was checked and completed. Times are Unix seconds. */
export interface PlannedQuery {
  /** Undefined: all metrics. */
  readonly metrics: readonly string[] | undefined;
  /** Whether rows keep metrics, and with them units, apart. */
  readonly splitsMetrics: boolean;
  readonly measures: readonly Measure[];
  /** Names that rows are grouped by in addition to the bucket: dimensions and reserved names. */
  readonly dimensions: readonly string[];
  readonly filters: readonly DimensionCondition[];
  readonly sources: readonly SourcePart[];
  /** The named dimensions that some rows of the rollup lack. */
  readonly excludedDimensions: readonly string[];
  /** Start of every bucket that touches the range, ascending; empty for totals. */
  readonly bucketStarts: readonly number[];
  /** Number of groups of each kind with their own rows; the others are summed. Undefined: all. */
  readonly groupsMax: number | undefined;
  readonly rowsMax: number;
}

/** A statement in which every value is a bound parameter, including names of dimensions. */
export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Upper bound of a result in the engine. JSON with every character escaped is six times as long, which still fits a
 * string.
 */
const ANSWER_BYTES_MAX = 64 * 1_048_576;
/** The second says what `grouping` returns. */
const SETTINGS = `max_result_bytes = ${ANSWER_BYTES_MAX}, force_grouping_standard_compatibility = 1`;

const ROLLUP_PARTS = {
  count: 'toUInt64(item_count) AS part_count',
  quantity: 'CAST(quantity AS Decimal(76, 18)) AS part_quantity',
  amount: 'CAST(amount AS Decimal(76, 18)) AS part_amount',
} as const satisfies Record<Exclude<Part, 'value'>, string>;

const EVENT_PARTS = {
  count: `toUInt64(${SIGN}) AS part_count`,
  quantity: 'toDecimal256(quantity, 18) AS part_quantity',
  amount: 'toDecimal256(amount, 18) AS part_amount',
  value: 'quantity AS part_value',
} as const satisfies Record<Part, string>;

/** The parts that the statements of all sources share. */
interface SharedSql {
  readonly tables: StorageTables;
  readonly conditions: readonly string[];
  /** On the item, which the events have nested. */
  readonly itemConditions: readonly string[];
  /** Columns of the item that conditions and groups read, and that the rollup lacks. */
  readonly itemColumns: readonly string[];
  /** Fields of the item other than its measures. */
  readonly fields: readonly string[];
  readonly parts: readonly Part[];
  /** The values of groups, and those that are counted. */
  readonly values: readonly string[];
}

/** The names of dimensions, and the reserved ones, that a query reads. */
export function namesOf({
  dimensions,
  filters,
  measures,
}: Pick<PlannedQuery, 'dimensions' | 'filters' | 'measures'>): string[] {
  const counted = measures.flatMap((measure) => uniqueName(measure) ?? []);
  return [...new Set([...dimensions, ...filters.map(([name]) => name), ...counted])];
}

/** Columns that rows are split by in addition to bucket and group; different currencies are never added up. */
function kindsOf({ splitsMetrics }: PlannedQuery): readonly string[] {
  return splitsMetrics ? ['metric', 'unit', 'currency'] : ['currency'];
}

/** Whether a row adds up or compares quantities that may have different units. */
export function addsUnits({
  splitsMetrics,
  measures,
}: Pick<PlannedQuery, 'splitsMetrics' | 'measures'>): boolean {
  return !splitsMetrics && measures.some(needsOneUnit);
}

/**
 * Measures per bucket, kind and group, ordered by them, without those of which nothing is left; one row more than
 * `rowsMax`, if there is one. Where quantities of several units may be added up or compared, each row has the first and
 * the last of its units.
 */
export function analysisStatement(tables: StorageTables, query: PlannedQuery): Statement {
  const params = new StatementParams();
  const { dimensions, measures } = query;
  const bucket = bucketSql(params, query.bucketStarts);
  const flagsOtherGroups = query.groupsMax !== undefined;
  const items = itemsSql(params, tables, query);
  const kinds = kindsOf(query);
  const columns = [
    ...(bucket === undefined ? [] : [`${bucket} AS bucket_start`]),
    ...kinds,
    ...(flagsOtherGroups ? ['is_other'] : []),
    ...dimensions.map((_, i) => `${flagsOtherGroups ? 'is_other ? NULL : ' : ''}value_${i} AS group_${i}`),
  ];
  const keys = [
    ...(bucket === undefined ? [] : ['bucket_start']),
    ...kinds,
    ...(flagsOtherGroups ? ['is_other'] : []),
    ...dimensions.map((_, i) => `group_${i}`),
  ];
  const from = markOtherSql(params, items, query);
  const found = measuredSql(from, { columns, keys, measures, findsUnits: addsUnits(query) });
  const limit = params.add('limit', 'UInt32', query.rowsMax + 1);
  const sql = `${found} ORDER BY ${keys.join(', ')} LIMIT ${limit} SETTINGS ${SETTINGS}`;
  return { sql, params: params.values };
}

/**
 * Returns the charge items of the query, or sums of them: from the rollup where possible, the rest from the events. A
 * row of the rollup that lacks a named dimension is skipped, and its events are read instead.
 */
function itemsSql(params: StatementParams, tables: StorageTables, query: PlannedQuery): string {
  const shared: SharedSql = {
    tables,
    conditions: [OWN_ROWS, ...query.filters.map((condition) => filterSql(params, condition))],
    itemConditions:
      query.metrics === undefined
        ? []
        : [`metric IN ${params.add('metrics', 'Array(String)', query.metrics)}`],
    itemColumns: namesOf(query).some((name) => reservedColumn(name) === 'pricing_source')
      ? ['pricing_source']
      : [],
    fields: [...new Set([...kindsOf(query), ...(addsUnits(query) ? ['unit'] : [])])],
    parts: partsOf(query.measures),
    values: [
      ...query.dimensions.map((name, i) => valueSql(params, name, `value_${i}`)),
      ...query.measures
        .filter(isUnique)
        .map((measure) => valueSql(params, uniqueName(measure) ?? '', uniqueColumn(query.measures, measure))),
    ],
  };
  const rolledUp: string[] = [];
  const raw: string[] = [];
  const lacks =
    query.excludedDimensions.length === 0
      ? undefined
      : `hasAny(raw_only, ${params.add('raw', 'Array(String)', query.excludedDimensions)})`;
  for (const { source, spans } of query.sources) {
    const resolutionS = RESOLUTIONS_S[source];
    if (resolutionS === undefined) {
      raw.push(withinSql(params, 'occurred_at', spans));
      continue;
    }
    const resolution = `resolution = ${params.add('resolution', 'UInt16', resolutionS)}`;
    rolledUp.push(`${resolution} AND ${withinSql(params, 'bucket', spans)}`);
    if (lacks !== undefined) raw.push(`${lacks} AND ${withinSql(params, 'occurred_at', spans)}`);
  }
  const without = lacks === undefined ? [] : [`NOT ${lacks}`];
  return [
    ...(rolledUp.length === 0 ? [] : [rollupSql(shared, [anyOf(rolledUp), ...without])]),
    ...(raw.length === 0 ? [] : [eventsSql(shared, [anyOf(raw)])]),
  ].join(' UNION ALL ');
}

function valueSql(params: StatementParams, name: string, alias: string): string {
  const { present, value } = params.dimension(name);
  return `if(${present}, ${value}, NULL) AS ${alias}`;
}

function rollupSql(
  { tables, conditions, itemConditions, fields, parts, values }: SharedSql,
  within: readonly string[],
): string {
  const sums = parts.map((part) => {
    if (part === 'value') throw new Error('rollups have no quantities of single charge items');
    return ROLLUP_PARTS[part];
  });
  const columns = ['toUnixTimestamp(bucket) AS moment', ...fields, ...values, ...sums];
  return `SELECT ${columns.join(', ')} FROM ${tables.rollup}
    WHERE ${[...conditions, ...within, ...itemConditions].join(' AND ')}`;
}

/** Joins the needed fields of the items one by one: `ARRAY JOIN item` in a subquery would read all fields. */
function eventsSql(
  { tables, conditions, itemConditions, itemColumns, fields, parts, values }: SharedSql,
  within: readonly string[],
): string {
  const joined = new Set([
    ...fields,
    ...itemColumns,
    ...(itemConditions.length === 0 ? [] : ['metric']),
    ...(parts.includes('quantity') || parts.includes('value') ? ['quantity'] : []),
    ...(parts.includes('amount') ? ['amount'] : []),
  ]);
  const sums: string[] = parts.map((part) => EVENT_PARTS[part]);
  if (parts.includes('value')) sums.push(inForceSql(tables, within));
  const columns = ['toUnixTimestamp(occurred_at) AS moment', ...fields, ...values, ...sums];
  return `SELECT ${columns.join(', ')} FROM ${tables.events}
    ARRAY JOIN ${[...joined].map((name) => `item.${name} AS ${name}`).join(', ')}
    WHERE ${[...conditions, ...within, ...itemConditions].join(' AND ')}`;
}

/**
 * Whether a charge item is one of a revision in force, and not one that a counter row takes back. Both have the time of
 * their event, so they are in the same spans.
 */
function inForceSql({ events }: StorageTables, within: readonly string[]): string {
  return `NOT is_counter AND (raw_event_id, corrections) NOT IN (
      SELECT raw_event_id, corrections FROM ${events}
      WHERE ${[OWN_ROWS, 'is_counter', ...within].join(' AND ')}) AS in_force`;
}

function withinSql(params: StatementParams, time: string, spans: readonly TimeSpan[]): string {
  return anyOf(
    spans.map(({ from, to }) => {
      const fromSql = `toDateTime(${params.add('from', 'UInt32', from)}, 'UTC')`;
      const toSql = `toDateTime(${params.add('to', 'UInt32', to)}, 'UTC')`;
      return `${time} >= ${fromSql} AND ${time} < ${toSql}`;
    }),
  );
}

function anyOf(conditions: readonly string[]): string {
  return `(${conditions.map((condition) => `(${condition})`).join(' OR ')})`;
}

/**
 * Adds `is_other` where groups are bounded: whether an item belongs to none of the groups with the largest first
 * measure over the whole range. Groups with equal sums are taken in the order of their values.
 */
function markOtherSql(params: StatementParams, items: string, query: PlannedQuery): string {
  const { dimensions, measures, groupsMax } = query;
  const [rankedBy] = measures;
  if (groupsMax === undefined || rankedBy === undefined) return items;
  const kinds = kindsOf(query).join(', ');
  const values = dimensions.map((_, i) => `value_${i}`);
  // IN never matches a tuple with a NULL.
  const group = values.flatMap((value) => [`isNull(${value})`, `ifNull(${value}, '')`]);
  const groups = params.add('groups', 'UInt32', groupsMax);
  const keys = [...kindsOf(query), ...values];
  const ranked = measuredSql(items, { columns: keys, keys, measures: [rankedBy], findsUnits: false });
  // LIMIT BY would sort all groups to find these few: for a million, that takes as long as summing them.
  return `SELECT *, (${[kinds, ...group].join(', ')}) NOT IN (
      SELECT ${[kinds, ...group.map((_, i) => `ranked.${i + 2}`)].join(', ')} FROM (
        SELECT ${kinds}, groupArraySorted(${groups})((-total, ${group.join(', ')})) AS most FROM (
          SELECT ${[kinds, ...values].join(', ')}, ${measureColumn(0)} AS total
          FROM (${ranked}))
        GROUP BY ${kinds})
      ARRAY JOIN most AS ranked
    ) AS is_other FROM (${items})`;
}

/**
 * The bucket of a moment is the last start not after it. The starts themselves are sent, so that ClickHouse's knowledge
 * of timezones never matters.
 */
function bucketSql(params: StatementParams, starts: readonly number[]): string | undefined {
  if (starts.length === 0) return undefined;
  return `roundDown(toInt64(moment), ${params.add('starts', 'Array(Int64)', starts)})`;
}
