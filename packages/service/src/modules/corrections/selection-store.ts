import { type BacktestRequest, type BacktestResult, PRICING_PURPOSE_DEFAULT } from '@tollgate/contract';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { ProjectHistory } from '../storage/index.js';
import { type EventFilter, rowSelection, SIGN } from '../usage/index.js';

/** Returns those of the events that are stored as failed ones. */
export async function failedIdsAmong(db: ProjectDb, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>`
    select encode(uuid_send(f.raw_event_id), 'hex') as id from failed_events f
    where ${db.isOwn('f')} and f.raw_event_id = any(${ids}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the number of events whose revision in force a filter selects: its reversal row takes back any other one. All
 * attempts of a failed event may be counted.
 */
export async function countSelected(history: ProjectHistory, filter: EventFilter): Promise<number> {
  const selection = rowSelection(history, filter);
  if (selection === undefined) return 0;
  const [row] = await history.query<{ events: string }>(
    `SELECT sum(${SIGN}) AS events FROM ${history.tables.events} WHERE ${selection.conditions.join(' AND ')}`,
    selection.params,
  );
  return Number(row?.events);
}

/** A backtest that a correction applies. */
export interface AppliedBacktest {
  readonly request: BacktestRequest;
  readonly result: BacktestResult;
  /** Unix seconds. */
  readonly finishedAt: number;
}

/** Returns a backtest that has succeeded and is still kept. */
export function readAppliedBacktest(db: ProjectDb, id: string): Promise<AppliedBacktest | undefined> {
  return db.row<AppliedBacktest>`
    select b.request, b.result, b.finished_at as "finishedAt" from backtests b
    where ${db.isOwn('b')} and b.id = ${id} and b.usage_limit_plan_id is null and b.status = 'succeeded'`;
}

/**
 * Whether the rules by which a backtest has rated were changed after it: a rule set that it names without a version has
 * a newer one, or a pricing rule set of the events was published or archived.
 */
export async function haveRulesChanged(
  db: ProjectDb,
  { request, result: { to }, finishedAt }: AppliedBacktest,
): Promise<boolean> {
  const { extractor, version, pricing, pricing_rule_set_id: pricingId = null } = request;
  const extractorId = request.extractor_rule_set_id;
  const newest = [
    ...(extractor === undefined && version === undefined ? [extractorId] : []),
    ...(pricingId !== null && request.pricing_version === undefined ? [pricingId] : []),
  ];
  const replaced = pricing === undefined ? null : (pricing.purpose ?? PRICING_PURPOSE_DEFAULT);
  const row = await db.row<{ changed: boolean }>`
    with replaced as (
      select coalesce(${replaced}::text, (
        select purpose from rule_sets n where ${db.isOwn('n')} and n.id = ${pricingId}::text)) as purpose
    )
    select exists (
      select from rule_sets s join rule_set_versions v on v.project_id = s.project_id and v.rule_set_id = s.id
      where ${db.isOwn('s')} and (
        (s.id = any(${newest}::text[]) and v.created_at > ${finishedAt})
        or (s.extractor_rule_set_id = ${extractorId}
          and s.purpose is distinct from (select purpose from replaced)
          and v.published_at is not null and v.effective_from < ${to}
          and (v.published_at > ${finishedAt} or s.archived_at > ${finishedAt})))
    ) as changed`;
  return row?.changed === true;
}
