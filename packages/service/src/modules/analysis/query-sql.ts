import type { DimensionFilter, Measure } from '@tollgate/contract';
import { type StorageScope, type StorageTables, storageTables } from '../storage/index.js';
import { RESOLUTIONS_S, type SourcePart } from './source.js';

/** Whose usage: no query goes without it. */
export type AnalysisScope = StorageScope;

/** A query that was checked and completed. Times are Unix seconds. */
export interface PlannedQuery {
  readonly metrics: readonly string[];
  readonly measures: readonly Measure[];
  /** What rows are split by beside the bucket: dimensions, `subject_type`, `subject_id`. */
  readonly dimensions: readonly string[];
  readonly filters: readonly (readonly [name: string, filter: DimensionFilter])[];
  readonly sources: readonly SourcePart[];
  /** Start of every bucket that touches the range, ascending; empty for totals. */
  readonly bucketStarts: readonly number[];
  readonly limit: number;
}

/** A statement whose every value is a bound parameter: names of dimensions too. */
export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The subject's own columns; every other name is a dimension. */
const SUBJECT_COLUMNS: readonly string[] = ['subject_type', 'subject_id'];

/** The value of a dimension in one row of a source. */
interface DimensionSql {
  readonly present: string;
  readonly value: string;
}

/** Sums of one measure, over the union of the sources and over each of them. */
const SUMS = {
  item_count: 'sum(part_count)',
  quantity: 'sum(part_quantity)',
  amount: 'sum(part_amount)',
} as const satisfies Record<Measure, string>;

const ROLLUP_PARTS = {
  item_count: 'toUInt64(item_count) AS part_count',
  quantity: 'CAST(quantity AS Decimal(76, 18)) AS part_quantity',
  amount: 'CAST(amount AS Decimal(76, 18)) AS part_amount',
} as const satisfies Record<Measure, string>;

const EVENT_PARTS = {
  item_count: 'toUInt64(1) AS part_count',
  quantity: 'toDecimal256(item.quantity, 18) AS part_quantity',
  amount: 'toDecimal256(item.amount, 18) AS part_amount',
} as const satisfies Record<Measure, string>;

/** What the statements of all sources have in common. */
interface SharedSql {
  readonly tables: StorageTables;
  readonly conditions: readonly string[];
  readonly metrics: string;
  readonly measures: readonly Measure[];
  readonly groups: readonly string[];
}

/** Collects parameters; equal names share one. */
class Params {
  readonly values: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();

  add(prefix: string, type: string, value: unknown): string {
    const name = `${prefix}${Object.keys(this.values).length}`;
    this.values[name] = value;
    return `{${name}:${type}}`;
  }

  dimension(name: string): DimensionSql {
    if (SUBJECT_COLUMNS.includes(name)) return { present: `${name} != ''`, value: name };
    let parameter = this.#names.get(name);
    if (parameter === undefined) {
      parameter = this.add('dimension', 'String', name);
      this.#names.set(name, parameter);
    }
    return { present: `mapContains(dimensions, ${parameter})`, value: `dimensions[${parameter}]` };
  }
}

/** Sums per bucket, metric, unit, currency and group, ordered by them; one row more than the limit, if there is one. */
export function analysisStatement(scope: AnalysisScope, query: PlannedQuery): Statement {
  const params = new Params();
  const conditions = [
    `tenant_id = ${params.add('tenant', 'String', scope.tenantId)}`,
    `project_id = ${params.add('project', 'String', scope.projectId)}`,
    ...query.filters.map(([name, filter]) => filterSql(params, name, filter)),
  ];
  const metrics = params.add('metrics', 'Array(String)', query.metrics);
  const groups = query.dimensions.map((name, i) => {
    const { present, value } = params.dimension(name);
    return { alias: `group_${i}`, sql: `if(${present}, ${value}, NULL) AS group_${i}` };
  });
  const shared = {
    tables: storageTables(scope),
    conditions,
    metrics,
    measures: query.measures,
    groups: groups.map(({ sql }) => sql),
  };
  const parts = query.sources.map((part) => sourceSql(params, part, shared));
  const keys = ['metric', 'unit', 'currency', ...groups.map(({ alias }) => alias)];
  const bucket = bucketSql(params, query.bucketStarts);
  if (bucket !== undefined) keys.unshift('bucket_start');
  const columns = [
    ...(bucket === undefined ? [] : [`${bucket} AS bucket_start`]),
    'metric',
    'unit',
    'currency',
    ...groups.map(({ alias }) => alias),
    ...query.measures.map((measure) => `${SUMS[measure]} AS ${measure}`),
  ];
  const limit = params.add('limit', 'UInt32', query.limit + 1);
  const sql = `SELECT ${columns.join(', ')}
    FROM (${parts.join(' UNION ALL ')})
    GROUP BY ${keys.join(', ')} ORDER BY ${keys.join(', ')} LIMIT ${limit}`;
  return { sql, params: params.values };
}

/**
 * The bucket of a moment is the last start not after it. The starts themselves are sent, so that ClickHouse's idea of a
 * timezone never matters.
 */
function bucketSql(params: Params, starts: readonly number[]): string | undefined {
  if (starts.length === 0) return undefined;
  return `roundDown(toInt64(moment), ${params.add('starts', 'Array(Int64)', starts)})`;
}

function sourceSql(
  params: Params,
  { source, spans }: SourcePart,
  { tables, conditions, metrics, measures, groups }: SharedSql,
): string {
  const resolutionS = RESOLUTIONS_S[source];
  const isRaw = resolutionS === undefined;
  const time = isRaw ? 'occurred_at' : 'bucket';
  const withinSpans = spans.map(({ from, to }) => {
    const fromSql = `toDateTime(${params.add('from', 'UInt32', from)}, 'UTC')`;
    const toSql = `toDateTime(${params.add('to', 'UInt32', to)}, 'UTC')`;
    return `${time} >= ${fromSql} AND ${time} < ${toSql}`;
  });
  const columns = [
    `toUnixTimestamp(${time}) AS moment`,
    ...['metric', 'unit', 'currency'].map((name) => (isRaw ? `item.${name} AS ${name}` : name)),
    ...groups,
    ...measures.map((measure) => (isRaw ? EVENT_PARTS : ROLLUP_PARTS)[measure]),
  ];
  const rows = isRaw
    ? `${tables.events} ARRAY JOIN item WHERE`
    : `${tables.rollup} WHERE resolution = ${params.add('resolution', 'UInt16', resolutionS)} AND`;
  return `SELECT ${columns.join(', ')} FROM ${rows} ${conditions.join(' AND ')}
      AND (${withinSpans.join(' OR ')})
      AND ${isRaw ? 'item.metric' : 'metric'} IN ${metrics}`;
}

function filterSql(params: Params, name: string, filter: DimensionFilter): string {
  const { present, value } = params.dimension(name);
  if (filter.exists !== undefined) return filter.exists ? present : `NOT (${present})`;
  const values = params.add('values', 'Array(String)', filter.in ?? filter.not_in ?? []);
  const isListed = `(${present} AND ${value} IN ${values})`;
  return filter.in === undefined ? `NOT ${isListed}` : isListed;
}
