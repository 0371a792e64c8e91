import { isOfCosts, isOfQuantities } from '@tollgate/contract';
import type { StorageTables } from '../storage/index.js';
import { StatementParams } from '../usage/index.js';
import { itemsSql, rolledUpSql } from './items-sql.js';
import { type Grouping, measureColumn, measuredSql, partsOf } from './measure-sql.js';
import { addsUnits, kindsOf, type PlannedQuery } from './planned-query.js';

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
/**
 * The second says what `grouping` returns. With short circuits, each part of an `if` that reads the list of a
 * percentile copies the list, which took three times as long as all the rest. No part fails where it is not needed.
 */
const SETTINGS = [
  `max_result_bytes = ${ANSWER_BYTES_MAX}`,
  'force_grouping_standard_compatibility = 1',
  "short_circuit_function_evaluation = 'disable'",
].join(', ');

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
  const found = measuredSql(from, {
    ...{ columns, keys, measures },
    findsUnits: addsUnits(query),
    ...keptWithoutItems(query),
  });
  const limit = params.add('limit', 'UInt32', query.rowsMax + 1);
  const sql = `${found} ORDER BY ${keys.join(', ')} LIMIT ${limit} SETTINGS ${SETTINGS}`;
  return { sql, params: params.values };
}

/**
 * The spans of the rollup's rows in which minimum and maximum are not those of the charge items in force: some were
 * taken back, or stored before quantities were compared. Undefined if the query reads no rollup. Such rows may be of
 * single groups, but events are found by their time.
 */
export function unlikeSpansStatement(tables: StorageTables, query: PlannedQuery): Statement | undefined {
  const params = new StatementParams();
  const rows = rolledUpSql(params, tables, query);
  if (rows === undefined) return undefined;
  const sql = `SELECT toUnixTimestamp(bucket) AS \`from\`, toUnixTimestamp(bucket) + resolution AS \`to\` ${rows}
    GROUP BY bucket, resolution
    HAVING sum(countered_item_count) != 0 OR sum(compared_item_count) != sum(item_count)
    ORDER BY bucket`;
  return { sql, params: params.values };
}

/** Says what keeps a row without charge items: amounts and costs that are measured. */
function keptWithoutItems({ measures }: PlannedQuery): Pick<Grouping, 'keepsAmounts' | 'keepsCosts'> {
  return { keepsAmounts: partsOf(measures).includes('amount'), keepsCosts: measures.some(isOfCosts) };
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
  // A group that has a row takes part, whatever it is ranked by.
  const kept = keptWithoutItems(query);
  const ranked = measuredSql(items, {
    columns: keys,
    keys,
    measures: [rankedBy],
    findsUnits: false,
    ...kept,
  });
  // Groups of which only amounts or costs are left have no quantities.
  const total = isOfQuantities(rankedBy) ? `ifNull(${measureColumn(0)}, 0)` : measureColumn(0);
  // LIMIT BY would sort all groups to find these few: for a million, that takes as long as summing them.
  return `SELECT *, (${[kinds, ...group].join(', ')}) NOT IN (
      SELECT ${[kinds, ...group.map((_, i) => `ranked.${i + 2}`)].join(', ')} FROM (
        SELECT ${kinds}, groupArraySorted(${groups})((-total, ${group.join(', ')})) AS most FROM (
          SELECT ${[kinds, ...values].join(', ')}, ${total} AS total
          FROM (${ranked}))
        GROUP BY ${kinds})
      ARRAY JOIN most AS ranked
    ) AS is_other FROM (${items})`;
}

/**
 * The bucket of a moment is the last start not after it. The starts themselves are sent, so that ClickHouse's knowledge
 * of timezones never matters. Where all have the same distance, dividing by it is faster than looking for the start.
 */
function bucketSql(params: StatementParams, starts: readonly number[]): string | undefined {
  const [first, second] = starts;
  if (first === undefined) return undefined;
  const step = (second ?? first) - first;
  if (step === 0 || starts.some((start, i) => start !== first + i * step))
    return `roundDown(toInt64(moment), ${params.add('starts', 'Array(Int64)', starts)})`;
  const [firstSql, stepSql] = [params.add('first', 'Int64', first), params.add('step', 'Int64', step)];
  return `${firstSql} + intDiv(toInt64(moment) - ${firstSql}, ${stepSql}) * ${stepSql}`;
}
