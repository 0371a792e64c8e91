import type { LimitMeasure } from '@tollgate/contract';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type ActiveLimitRule, parseValuePatterns } from '../limits/index.js';
import { everyHistory, type OwnTables, SHARED_TABLES } from '../storage/index.js';
import { ITEM_SIGN } from '../usage/index.js';

type Reader = Pick<ClickHouse, 'query'>;

/** The usage that a rule selects; without a selector, all usage of its measure. */
export type Selection = Pick<ActiveLimitRule, 'measure' | 'of' | 'currency'> &
  Partial<
    Pick<
      ActiveLimitRule,
      | 'selectorType'
      | 'selectorValue'
      | 'selectorValues'
      | 'dimensionKey'
      | 'dimensionValue'
      | 'dimensionValues'
    >
  >;

export interface WindowUsageScope {
  readonly tenantId: string;
  readonly projectId: string;
  readonly subjectType: string;
  readonly selection: Selection;
  /** Unix milliseconds, ascending. Charge items are summed by the marks between which they were processed. */
  readonly marksMs: readonly number[];
}

/** Sums of one subject; decimals. */
export interface SubjectUse {
  readonly subjectId: string;
  /** They were processed from this mark on, until the next. */
  readonly markMs: string;
  /** Sum of the usage that the rule selects. */
  readonly selected: string;
  /** Sums of all positive and of all negative usage. */
  readonly gained: string;
  readonly lost: string;
}

/** Sums the charge items of a window that were processed at the first mark or later. */
export function readWindowUse(
  clickhouse: Reader,
  own: readonly OwnTables[],
  scope: WindowUsageScope,
  window: { readonly startS: number; readonly endS: number | null },
): Promise<SubjectUse[]> {
  const { from, conditions, params, value, isSelected } = windowQueryParts(own, scope);
  const isBefore = window.endS === null ? '' : 'AND toUnixTimestamp(occurred_at) < {end:Int64}';
  return clickhouse.query<SubjectUse>(
    `SELECT ${COUNTED_SUBJECT} AS subjectId, ${MARK} AS markMs, toString(sumIf(${value}, ${isSelected})) AS selected,
       toString(sumIf(${value}, ${value} > 0)) AS gained, toString(sumIf(${value}, ${value} < 0)) AS lost
     FROM ${from} WHERE ${conditions} AND toUnixTimestamp(occurred_at) >= {start:Int64} ${isBefore}
     GROUP BY subjectId, markMs`,
    { ...params, start: window.startS, end: window.endS ?? 0 },
  );
}

/** Sum of the charge items that a rule selects, for one of its windows. */
export interface WindowUse {
  readonly subjectId: string;
  readonly startS: string;
  readonly markMs: string;
  readonly selected: string;
}

/**
 * The same for many windows.
 *
 * @param startsS where windows start, ascending; the last has no end
 * @param rowsMax returns at most one row more than this
 */
export function readWindowUses(
  clickhouse: Reader,
  own: readonly OwnTables[],
  scope: WindowUsageScope,
  startsS: readonly number[],
  rowsMax: number,
): Promise<WindowUse[]> {
  const { from, conditions, params, value, isSelected } = windowQueryParts(own, scope);
  return clickhouse.query<WindowUse>(
    `SELECT ${COUNTED_SUBJECT} AS subjectId, ${roundedDown('toInt64(toUnixTimestamp(occurred_at))', 'starts')} AS startS,
       ${MARK} AS markMs, toString(sum(${value})) AS selected
     FROM ${from} WHERE ${conditions} AND ${isSelected} AND toUnixTimestamp(occurred_at) >= {start:Int64}
     GROUP BY subjectId, startS, markMs HAVING sum(${value}) != 0
     ORDER BY startS DESC, subjectId, markMs LIMIT ${rowsMax + 1}`,
    { ...params, starts: startsS, start: startsS[0] ?? 0 },
  );
}

/** The time span (Unix seconds) in which usage of a project occurred. */
export interface UsageSpan {
  readonly projectId: string;
  readonly fromS: number;
  readonly toS: number;
}

export function readUsageSpans(clickhouse: Reader, own: readonly OwnTables[]): Promise<UsageSpan[]> {
  const { events, params } = everyHistory(own);
  return clickhouse.query<UsageSpan>(
    `SELECT project_id AS projectId, toUnixTimestamp(min(occurred_at)) AS fromS, toUnixTimestamp(max(occurred_at)) AS toS
     FROM ${events.from} WHERE ${events.inPlace} GROUP BY projectId`,
    params,
  );
}

const MARK = roundedDown('toUnixTimestamp64Milli(processed_at)', 'marks');

/** Returns the last element of an ascending list that is not above the number, which must not be below the first. */
function roundedDown(number: string, list: string): string {
  return `roundDown(${number}, {${list}:Array(Int64)})`;
}

/**
 * The subjects of one type at which usage counts, one row for each: that of the event, and those above it when the
 * event was rated.
 */
export const COUNTED_SUBJECT = `arrayJoin(arrayConcat(
  if(subject_type = {subject_type:String}, [subject_id], []),
  arrayFilter((id, type) -> type = {subject_type:String}, parent.id, parent.type)))`;

/** The amount that a charge item adds to a window; for a measure that counts values, whether it has one. */
const SUMMED: Readonly<Record<LimitMeasure, string>> = {
  amount: 'item.amount',
  quantity: 'item.quantity',
  count: ITEM_SIGN,
  unique: `if(mapContains(dimensions, {of:String}), ${ITEM_SIGN}, 0)`,
  max: `if(item.quantity * ${ITEM_SIGN} > 0, ${ITEM_SIGN}, 0)`,
  // Leases are counted, not usage: such a limit has no windows.
  concurrency: '0',
};

/** Returns the parts that queries of windows share. */
export function windowQueryParts(
  own: readonly OwnTables[],
  { tenantId, projectId, subjectType, selection, marksMs }: WindowUsageScope,
) {
  const { events } = own.find((tables) => tables.projectId === projectId) ?? SHARED_TABLES;
  const { measure, of, currency, selectorType, selectorValue, selectorValues } = selection;
  const { dimensionKey, dimensionValue, dimensionValues } = selection;
  const { exact, prefixes } = parseValuePatterns(dimensionValues ?? []);
  const values = dimensionValue === undefined || dimensionValue === null ? exact : [dimensionValue];
  const selects = ['true'];
  if (selectorType === 'metric') selects.push('item.metric = {selector:String}');
  if (selectorType === 'metric_prefix') selects.push('startsWith(item.metric, {selector:String})');
  if (selectorType === 'metrics') selects.push('has({metrics:Array(String)}, item.metric)');
  if (dimensionKey) {
    selects.push(
      `mapContains(dimensions, {dimension:String}) AND (has({values:Array(String)}, dimensions[{dimension:String}])
        OR arrayExists(prefix -> startsWith(dimensions[{dimension:String}], prefix), {prefixes:Array(String)}))`,
    );
  }
  return {
    from: `${events} ARRAY JOIN item`,
    conditions: `tenant_id = {tenant:String} AND project_id = {project:String}
       AND (subject_type = {subject_type:String} OR has(parent.type, {subject_type:String}))
       AND processed_at >= fromUnixTimestamp64Milli({since:Int64})
       ${measure === 'amount' ? 'AND item.currency = {currency:String}' : ''}`,
    isSelected: `(${selects.join(' AND ')})`,
    value: `toDecimal256(${SUMMED[measure]}, 18)`,
    params: {
      ...{ tenant: tenantId, project: projectId, subject_type: subjectType, currency },
      ...{ marks: marksMs, since: marksMs[0] ?? 0, selector: selectorValue ?? '' },
      ...{ dimension: dimensionKey ?? '', values, prefixes, metrics: selectorValues ?? [], of: of ?? '' },
    },
  };
}
