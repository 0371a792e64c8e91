import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { OwnTables } from '../storage/index.js';
import { ITEM_SIGN } from '../usage/index.js';
import { decimalOf } from './compare.js';
import type { WindowBounds } from './posting-tally.js';
import { COUNTED_SUBJECT, type WindowUsageScope, windowQueryParts } from './window-history-store.js';

/** The window of a subject that is read. */
export interface ValueWindow {
  readonly subjectId: string;
  readonly startS: number;
  readonly endS: number | null;
  /** Usage processed before this time does not count. Unix milliseconds. */
  readonly fromMs: number;
  /** Usage that the rule selects counts from here on; between the two times it may count. Infinity for never. */
  readonly certainMs: number;
}

interface BoundsRow {
  readonly subjectId: string;
  readonly certain: string;
  readonly gained: string;
  readonly lost: string;
}

/** Later than any time at which usage was processed, Unix milliseconds. */
const NEVER_MS = 8_640_000_000_000_000;

/**
 * Reads what windows of one rule and time that count values must have: the number of different values, or the greatest
 * quantity, that were counted more often than taken back. Usage that may or may not count bounds it: each of its values
 * can add one, or take one away; a greatest quantity can be any of its quantities, and, where some are taken back,
 * anything down to 0.
 *
 * @param windows of different subjects, with the same start and end
 */
export async function readValueBounds(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  scope: WindowUsageScope,
  windows: readonly ValueWindow[],
): Promise<ReadonlyMap<string, WindowBounds>> {
  const [first] = windows;
  if (first === undefined) return new Map();
  const { from, conditions, params, isSelected } = windowQueryParts(own, scope);
  const isMaximum = scope.selection.measure === 'max';
  const value = isMaximum ? `toDecimal256(item.quantity, 18) * ${ITEM_SIGN}` : 'dimensions[{of:String}]';
  const hasValue = isMaximum ? `item.quantity * ${ITEM_SIGN} > 0` : 'mapContains(dimensions, {of:String})';
  const isBefore = first.endS === null ? '' : 'AND toUnixTimestamp(occurred_at) < {end:Int64}';
  const isCertain = `${PROCESSED_MS} >= ${timeOf('certain_ms')}`;
  const rows = await clickhouse.query<BoundsRow>(
    `SELECT subjectId, ${isMaximum ? MAXIMUM : DIFFERENT}
     FROM (
       SELECT ${COUNTED_SUBJECT} AS subjectId, ${value} AS value, sumIf(${ITEM_SIGN}, ${isCertain} AND ${isSelected}) AS times,
         countIf(NOT ${isCertain} AND ${ITEM_SIGN} > 0) AS gains, countIf(NOT ${isCertain} AND ${ITEM_SIGN} < 0) AS losses
       FROM ${from}
       WHERE ${conditions} AND subjectId IN {ids:Array(String)} AND ${PROCESSED_MS} >= ${timeOf('from_ms')}
         AND toUnixTimestamp(occurred_at) >= {start:Int64} ${isBefore} AND ${hasValue}
       GROUP BY subjectId, value
     )
     GROUP BY subjectId`,
    {
      ...params,
      ...{ start: first.startS, end: first.endS ?? 0, ids: windows.map(({ subjectId }) => subjectId) },
      from_ms: windows.map(({ fromMs }) => fromMs),
      certain_ms: windows.map(({ certainMs }) => Math.min(certainMs, NEVER_MS)),
    },
  );
  return new Map(
    rows.map(({ subjectId, certain, gained, lost }) => [
      subjectId,
      { certain: decimalOf(certain), gained: decimalOf(gained), lost: decimalOf(lost) },
    ]),
  );
}

const PROCESSED_MS = 'toUnixTimestamp64Milli(processed_at)';
/** The time of a list that belongs to the subject of the row. */
const timeOf = (list: string) =>
  `transform(subjectId, {ids:Array(String)}, {${list}:Array(Int64)}, toInt64(0))`;

const DIFFERENT = `toString(countIf(times > 0)) AS certain, toString(countIf(gains > 0)) AS gained,
  toString(-toInt64(countIf(losses > 0))) AS lost`;
const MAXIMUM = `toString(maxIf(value, times > 0)) AS certain,
  toString(greatest(maxIf(value, gains > 0) - maxIf(value, times > 0), toDecimal256(0, 18))) AS gained,
  toString(if(countIf(losses > 0) > 0, -maxIf(value, times > 0), toDecimal256(0, 18))) AS lost`;
