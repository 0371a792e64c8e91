import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { KEPT_TEXT_BYTES_MAX } from '../counters/index.js';
import { type OwnTables, SHARED_TABLES } from '../storage/index.js';
import { ITEM_SIGN } from '../usage/index.js';
import type { CounterSums, DefinedCounterRow } from './counter-store.js';

interface CountedRow extends Omit<CounterSums, 'by' | 'periodStart'> {
  /** Pairs of a value and whether the event has the dimension. */
  readonly by: readonly (readonly [string, 0 | 1])[];
  readonly periodStart: string;
}

/** A remainder of a correction names its counter, because its event may have another subject since. */
const IS_LEFT = `item.source = 'correction'`;
/** The first 60 bits of the SHA-256 of a text. */
const hashOf = (text: string) =>
  `toInt256(bitShiftRight(reinterpretAsUInt64(reverse(substring(SHA256(${text}), 1, 8))), 4))`;
/** The text that a counter keeps of a dimension value, which follows the first character of `value`. */
const KEPT_TEXT = `if(length(value) > ${KEPT_TEXT_BYTES_MAX + 1}, lower(hex(SHA256(substring(value, 2)))), substring(value, 2))`;
const named = (field: string) => `JSONExtractString(item.cumulative, '${field}')`;

/**
 * Adds up the charge items that name a counter, by period: their amounts before discounts, how many are in force, and
 * the total and the kept values that follow from them.
 *
 * @param rowsMax returns at most one row more than this
 */
export async function sumCountedItems(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  { tenantId, projectId, ruleSetId, counter, definition }: DefinedCounterRow,
  fromS: number,
  rowsMax: number,
): Promise<CounterSums[]> {
  const { events } = own.find((tables) => tables.projectId === projectId) ?? SHARED_TABLES;
  const { per, by, aggregate, of } = definition;
  const ownerOf = (column: string) => `if(${IS_LEFT}, ${named(column)}, ${column})`;
  const ofSubject = (column: string) => (per === 'subject' ? ownerOf(column) : `''`);
  const byValues = by.map((_, index) => {
    const name = `{by_${index}:String}`;
    const left = `JSONExtract(item.cumulative, 'by', 'Array(Nullable(String))')[${index + 1}]`;
    return `if(${IS_LEFT}, (ifNull(${left}, ''), toUInt8(isNotNull(${left}))),
      (dimensions[${name}], toUInt8(mapContains(dimensions, ${name}))))`;
  });
  const value = {
    sum: `''`,
    count: `''`,
    max: 'toString(abs(item.quantity))',
    unique: `if(mapContains(dimensions, {of:String}), concat('=', dimensions[{of:String}]), '')`,
  }[aggregate];
  const total = {
    sum: 'sum(quantity)',
    count: 'toDecimal256(sum(items), 18)',
    max: 'maxIf(toDecimal256(value, 18), items > 0)',
    unique: `toDecimal256(uniqExactIf(value, items > 0 AND value != ''), 18)`,
  }[aggregate];
  const keptText = { sum: undefined, count: undefined, max: 'value', unique: KEPT_TEXT }[aggregate];
  const valueCount = keptText === undefined ? '0' : `countIf(items > 0 AND value != '')`;
  const values = keptText === undefined ? '0' : `sumIf(${hashOf(keptText)} * items, value != '')`;
  const params = Object.fromEntries(by.map((name, index) => [`by_${index}`, name]));
  const rows = await clickhouse.query<CountedRow>(
    `SELECT subjectType, subjectId, accountId, by, toString(start) AS periodStart, toString(${total}) AS quantity,
       toString(sum(charged)) AS amount, toString(sum(items)) AS itemCount,
       toString(${valueCount}) AS valueCount, toString(${values}) AS values
     FROM (
       SELECT ${ofSubject('subject_type')} AS subjectType, ${ofSubject('subject_id')} AS subjectId,
         ${per === 'account' ? ownerOf('account_id') : `''`} AS accountId, ${byValues.length === 0 ? '[]' : `[${byValues}]`} AS by,
         JSONExtractInt(item.cumulative, 'period_start') AS start, ${value} AS value, sum(${ITEM_SIGN}) AS items,
         sum(toDecimal256(item.quantity, 18)) AS quantity,
         sum(toDecimal256(item.amount, 18) + toDecimal256(item.discount, 18)) AS charged
       FROM ${events} ARRAY JOIN item
       WHERE tenant_id = {tenant:String} AND project_id = {project:String} AND item.rule_set_id = {rule_set:String}
         AND item.cumulative != '' AND JSONExtractString(item.cumulative, 'counter') = {counter:String}
         AND JSONExtractInt(item.cumulative, 'period_start') >= {from:Int64}
       GROUP BY subjectType, subjectId, accountId, by, start, value
     )
     GROUP BY subjectType, subjectId, accountId, by, start LIMIT ${rowsMax + 1}`,
    {
      ...{ tenant: tenantId, project: projectId, rule_set: ruleSetId, counter, from: fromS },
      ...{ of: of ?? '', ...params },
    },
  );
  return rows.map(({ by: found, periodStart, ...row }) => ({
    ...row,
    by: found.map(([text, isPresent]) => (isPresent === 1 ? text : null)),
    periodStart: Number(periodStart),
  }));
}
