import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { UsageSum } from '../ledger/index.js';
import type { CountedWindow } from '../limits/index.js';
import { everyHistory, type OwnTables, SHARED_TABLES } from '../storage/index.js';

type Reader = Pick<ClickHouse, 'query'>;

/** Charge items that say they were posted, per account and currency, of events processed at `upToMs` or before. */
export function readPostedSums(
  clickhouse: Reader,
  own: readonly OwnTables[],
  upToMs: number,
): Promise<UsageSum[]> {
  const { events, params } = everyHistory(own);
  return clickhouse.query<UsageSum>(
    `SELECT tenant_id AS tenantId, project_id AS projectId, account_id AS accountId, item.currency AS currency,
       toString(sum(toDecimal256(item.amount, 18))) AS amount
     FROM ${events.from} ARRAY JOIN item
     WHERE ${events.inPlace} AND item.ledger_transaction_id != '' AND processed_at <= fromUnixTimestamp64Milli({up_to:Int64})
     GROUP BY tenantId, projectId, accountId, currency`,
    { ...params, up_to: upToMs },
  );
}

/** What the charge items of one subject add up to in a window. */
export interface SubjectSum {
  readonly subjectId: string;
  /** A decimal. */
  readonly used: string;
  /** When the first of them was processed, Unix milliseconds. */
  readonly firstMs: string;
}

/** By subject, what charge items a window's rule selects since it is in force. All windows of a group have one answer. */
export function readWindowSums(
  clickhouse: Reader,
  own: readonly OwnTables[],
  window: CountedWindow,
): Promise<SubjectSum[]> {
  const { events } = own.find(({ projectId }) => projectId === window.projectId) ?? SHARED_TABLES;
  const { measure, selectorType, endS, dimensionKey } = window;
  const conditions = [
    'tenant_id = {tenant:String} AND project_id = {project:String} AND subject_type = {subject_type:String}',
    'toUnixTimestamp(occurred_at) >= {start:Int64}',
    'processed_at >= fromUnixTimestamp64Milli({since:Int64})',
  ];
  if (endS !== null) conditions.push('toUnixTimestamp(occurred_at) < {end:Int64}');
  if (selectorType === 'metric') conditions.push('item.metric = {selector:String}');
  if (selectorType === 'metric_prefix') conditions.push('startsWith(item.metric, {selector:String})');
  if (measure === 'amount') conditions.push('item.currency = {currency:String}');
  if (dimensionKey !== null) {
    conditions.push(
      'mapContains(dimensions, {dimension:String}) AND dimensions[{dimension:String}] = {value:String}',
    );
  }
  return clickhouse.query<SubjectSum>(
    `SELECT subject_id AS subjectId, toString(sum(toDecimal256(item.${measure}, 18))) AS used,
       toString(min(toUnixTimestamp64Milli(processed_at))) AS firstMs
     FROM ${events} ARRAY JOIN item WHERE ${conditions.join(' AND ')} GROUP BY subjectId`,
    {
      tenant: window.tenantId,
      project: window.projectId,
      subject_type: window.subjectType,
      start: window.startS,
      since: window.sinceMs,
      end: endS ?? 0,
      selector: window.selectorValue,
      currency: window.currency,
      dimension: dimensionKey ?? '',
      value: window.dimensionValue ?? '',
    },
  );
}
