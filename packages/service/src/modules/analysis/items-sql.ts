import { isUnique, uniqueName } from '@tollgate/contract';
import { OWN_ROWS, type StorageTables } from '../storage/index.js';
import { filterSql, reservedColumn, SIGN, type StatementParams } from '../usage/index.js';
import { comparesItems, needsEvents, type Part, partsOf, uniqueColumn } from './measure-sql.js';
import { addsUnits, kindsOf, namesOf, type PlannedQuery } from './planned-query.js';
import { RESOLUTIONS_S, type TimeSpan } from './source.js';

const ROLLUP_PARTS = {
  count: 'toUInt64(item_count) AS part_count',
  quantity: 'CAST(quantity AS Decimal(76, 18)) AS part_quantity',
  amount: 'CAST(amount AS Decimal(76, 18)) AS part_amount',
  least: 'CAST(minimum AS Nullable(Decimal(38, 18))) AS part_least',
  greatest: 'CAST(maximum AS Nullable(Decimal(38, 18))) AS part_greatest',
  compared: 'toUInt64(compared_item_count) AS part_compared',
  countered: 'toUInt64(countered_item_count) AS part_countered',
  cost: 'CAST(cost AS Decimal(76, 18)) AS part_cost',
  cost_count: 'toUInt64(cost_count) AS part_cost_count',
} as const satisfies Record<Exclude<Part, 'value'>, string>;

/** The quantity in millionths, if it is one: as an integer of 64 bits, which is cheap to sort. */
const MILLIONTHS = 'toInt64(intDiv(reinterpretAsInt128(quantity), 1000000000000)) AS part_millionths';
const IS_SHORT = 'toInt128(part_millionths) * 1000000000000 = reinterpretAsInt128(quantity) AS part_is_short';

const EVENT_PARTS = {
  count: `toUInt64(if(item_source = 'correction', 0, ${SIGN})) AS part_count`,
  quantity: 'toDecimal256(quantity, 18) AS part_quantity',
  amount: 'toDecimal256(amount, 18) AS part_amount',
  value: `quantity AS part_value, ${MILLIONTHS}, ${IS_SHORT}`,
  least: 'if(in_force, quantity, NULL) AS part_least',
  greatest: 'if(in_force, quantity, NULL) AS part_greatest',
  compared: 'toUInt64(in_force) AS part_compared',
  countered: 'toUInt64(0) AS part_countered',
  cost: 'toDecimal256(0, 18) AS part_cost',
  cost_count: 'toUInt64(0) AS part_cost_count',
} as const satisfies Record<Part, string>;

/** The same for the cost of an item, which is in a row of the cost's currency. */
const COST_PARTS = {
  count: 'toUInt64(0) AS part_count',
  quantity: 'toDecimal256(0, 18) AS part_quantity',
  amount: 'toDecimal256(0, 18) AS part_amount',
  value: 'toDecimal128(0, 18) AS part_value, toInt64(0) AS part_millionths, true AS part_is_short',
  least: 'CAST(NULL AS Nullable(Decimal(38, 18))) AS part_least',
  greatest: 'CAST(NULL AS Nullable(Decimal(38, 18))) AS part_greatest',
  compared: 'toUInt64(0) AS part_compared',
  countered: 'toUInt64(0) AS part_countered',
  cost: 'toDecimal256(cost_amount, 18) AS part_cost',
  cost_count: `toUInt64(${SIGN}) AS part_cost_count`,
} as const satisfies Record<Part, string>;

/** The parts of an item that are read from its quantity. */
const QUANTITY_PARTS: readonly Part[] = ['quantity', 'value', 'least', 'greatest'];

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
  /** Whether it matters which single items are in force. */
  readonly readsItems: boolean;
  /** The values of groups, and those that are counted. */
  readonly values: readonly string[];
}

/**
 * Returns the charge items of the query, or sums of them: from the rollup where possible, the rest from the events. A
 * row of the rollup that lacks a named dimension is skipped, and its events are read instead.
 */
export function itemsSql(params: StatementParams, tables: StorageTables, query: PlannedQuery): string {
  const countedSql = query.measures.some(needsEvents) ? hashSql : valueSql;
  const shared: SharedSql = {
    tables,
    conditions: conditionsSql(params, query),
    itemConditions: metricsSql(params, query),
    itemColumns: namesOf(query).some((name) => reservedColumn(name) === 'pricing_source')
      ? ['pricing_source']
      : [],
    fields: [...new Set([...kindsOf(query), ...(addsUnits(query) ? ['unit'] : [])])],
    parts: partsOf(query.measures),
    readsItems: query.measures.some(comparesItems),
    values: [
      ...query.dimensions.map((name, i) => valueSql(params, name, `value_${i}`)),
      ...query.measures
        .filter(isUnique)
        .map((measure) =>
          countedSql(params, uniqueName(measure) ?? '', uniqueColumn(query.measures, measure)),
        ),
    ],
  };
  const { rolledUp, raw } = rangesSql(params, query);
  return [
    ...(rolledUp.length === 0 ? [] : [rollupSql(shared, rolledUp)]),
    ...(raw.length === 0 ? [] : eventsSql(shared, raw)),
  ].join(' UNION ALL ');
}

/**
 * Returns the FROM and WHERE of the rows of the rollup that the query reads; undefined if it reads events alone.
 */
export function rolledUpSql(
  params: StatementParams,
  tables: StorageTables,
  query: PlannedQuery,
): string | undefined {
  const { rolledUp } = rangesSql(params, query);
  if (rolledUp.length === 0) return undefined;
  const conditions = [...conditionsSql(params, query), ...rolledUp, ...metricsSql(params, query)];
  return `FROM ${tables.rollup} WHERE ${conditions.join(' AND ')}`;
}

function conditionsSql(params: StatementParams, { filters }: PlannedQuery): string[] {
  return [OWN_ROWS, ...filters.map((condition) => filterSql(params, condition))];
}

function metricsSql(params: StatementParams, { metrics }: PlannedQuery): string[] {
  return metrics === undefined ? [] : [`metric IN ${params.add('metrics', 'Array(String)', metrics)}`];
}

/** Returns the conditions of the rows of the rollup, and of the events, that are read; empty where none are. */
function rangesSql(
  params: StatementParams,
  { sources, excludedDimensions }: PlannedQuery,
): { readonly rolledUp: readonly string[]; readonly raw: readonly string[] } {
  const rolledUp: string[] = [];
  const raw: string[] = [];
  const lacks =
    excludedDimensions.length === 0
      ? undefined
      : `hasAny(raw_only, ${params.add('raw', 'Array(String)', excludedDimensions)})`;
  for (const { source, spans } of sources) {
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
  return {
    rolledUp: rolledUp.length === 0 ? [] : [anyOf(rolledUp), ...without],
    raw: raw.length === 0 ? [] : [anyOf(raw)],
  };
}

function valueSql(params: StatementParams, name: string, alias: string): string {
  const { present, value } = params.dimension(name);
  return `if(${present}, ${value}, NULL) AS ${alias}`;
}

/**
 * The hash of a value, 0 for none. `uniqExact` compares texts by this hash, too, but hashes them at another place,
 * where it takes longer.
 */
function hashSql(params: StatementParams, name: string, alias: string): string {
  const { present, value } = params.dimension(name);
  return `if(${present}, reinterpretAsUInt128(sipHash128(${value})), 0) AS ${alias}`;
}

function rollupSql(
  { tables, conditions, itemConditions, fields, parts, readsItems, values }: SharedSql,
  within: readonly string[],
): string {
  const sums = parts.map((part) => {
    if (part === 'value') throw new Error('rollups have no quantities of single charge items');
    return ROLLUP_PARTS[part];
  });
  const columns = [
    'toUnixTimestamp(bucket) AS moment',
    ...fields,
    ...values,
    ...sums,
    // Its rows are of many items; only events have this column.
    ...(readsItems ? ['false AS in_force'] : []),
  ];
  return `SELECT ${columns.join(', ')} FROM ${tables.rollup}
    WHERE ${[...conditions, ...within, ...itemConditions].join(' AND ')}`;
}

/**
 * Returns the selections of charge items and, where they are needed, of their costs. The needed fields of the items are
 * joined one by one: `ARRAY JOIN item` in a subquery would read all fields.
 */
function eventsSql(shared: SharedSql, within: readonly string[]): string[] {
  const { fields, itemConditions, itemColumns, parts, readsItems } = shared;
  const joined = [
    ...fields,
    ...itemColumns,
    ...(itemConditions.length === 0 ? [] : ['metric']),
    ...(QUANTITY_PARTS.some((part) => parts.includes(part)) ? ['quantity'] : []),
    ...(parts.includes('amount') ? ['amount'] : []),
  ];
  const inForce = readsItems ? [inForceSql(shared.tables, within)] : [];
  // The source of an item has another name than that of its event.
  const ofCharge = new Map([...joined.map((name) => [name, name] as const), ['item_source', 'source']]);
  const charges = joinedItemsSql(shared, within, ofCharge, [
    ...parts.map((part) => EVENT_PARTS[part]),
    ...inForce,
  ]);
  if (!parts.includes('cost')) return [charges];
  const ofCost = new Map([
    ...joined.map((name) => [name, name] as const),
    ['currency', 'cost_currency'],
    ['cost_amount', 'cost_amount'],
  ]);
  const costs = joinedItemsSql(
    { ...shared, itemConditions: [...itemConditions, "currency != ''"] },
    within,
    ofCost,
    [...parts.map((part) => COST_PARTS[part]), ...(inForce.length === 0 ? [] : ['false AS in_force'])],
  );
  return [charges, costs];
}

/** @param joined the columns of the items by the names that they get */
function joinedItemsSql(
  { tables, conditions, itemConditions, fields, values }: SharedSql,
  within: readonly string[],
  joined: ReadonlyMap<string, string>,
  parts: readonly string[],
): string {
  const columns = ['toUnixTimestamp(occurred_at) AS moment', ...fields, ...values, ...parts];
  const names = Array.from(joined, ([name, column]) => `item.${column} AS ${name}`);
  return `SELECT ${columns.join(', ')} FROM ${tables.events}
    ARRAY JOIN ${names.join(', ')}
    WHERE ${[...conditions, ...within, ...itemConditions].join(' AND ')}`;
}

/**
 * Whether a charge item is one of a revision in force, and not one that a reversal row takes back. Both have the time
 * of their event, so they are in the same spans.
 */
function inForceSql({ events }: StorageTables, within: readonly string[]): string {
  return `item_source != 'correction' AND NOT is_counter AND (raw_event_id, corrections) NOT IN (
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
