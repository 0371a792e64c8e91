import type { Backtest } from '@tollgate/contract';
import { sql } from 'kysely';
import { DomainError } from '../../kernel/errors.js';
import type { ListPage, Page } from '../../kernel/page.js';
import { isClickHouseUnavailable } from '../../platform/clickhouse/index.js';
import { isUnavailable, type ProjectDb } from '../../platform/postgres/index.js';

/** Names a backtest: of a usage limit plan, or without one of rules. */
export interface BacktestKey {
  readonly id: string;
  readonly planId: string | undefined;
}

/** A backtest as the list shows it. Times are Unix seconds. */
export interface ListedBacktest {
  readonly id: string;
  readonly status: Backtest['status'];
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly events_done: number;
  readonly events_total: number;
  readonly created_at: number;
  readonly finished_at: number | null;
}

/** The request and the result are those of its kind. */
export interface StoredBacktest extends ListedBacktest {
  readonly request: unknown;
  readonly result: unknown;
}

export interface BacktestSuccess {
  readonly status: 'succeeded';
  readonly result: object;
  readonly eventsDone: number;
  readonly eventsTotal: number;
}

/** How a backtest has ended. */
export type BacktestEnd =
  | BacktestSuccess
  | { readonly status: 'failed'; readonly failure: NonNullable<Backtest['failure']> };

const LISTED = sql`id, status, failure_code, failure_message, events_done, events_total, created_at, finished_at`;

/** Whether the error means that a store is unavailable, on this thread or another; the same work may succeed later. */
export function isStoreAway(error: unknown): boolean {
  const isFoundElsewhere = error instanceof DomainError && error.code === 'store_unavailable';
  return isFoundElsewhere || isUnavailable(error) || isClickHouseUnavailable(error);
}

/** @throws a unique violation while another backtest of the project is running */
export async function insertRunning(
  db: ProjectDb,
  backtest: {
    readonly id: string;
    /** Undefined for a backtest of rules. */
    readonly planId: string | undefined;
    readonly request: object;
    readonly eventsTotal: number;
    readonly nowMs: number;
  },
): Promise<void> {
  await db
    .insert('backtests', {
      id: backtest.id,
      status: 'running',
      usage_limit_plan_id: backtest.planId ?? null,
      request: JSON.stringify(backtest.request),
      events_total: backtest.eventsTotal,
      alive_at_ms: backtest.nowMs,
      created_at: Math.floor(backtest.nowMs / 1000),
    })
    .execute();
}

/** Records that the backtest is still running, and its progress. Returns false when it must stop. */
export async function recordHeartbeat(
  db: ProjectDb,
  id: string,
  eventsDone: number,
  nowMs: number,
): Promise<boolean> {
  const changed = await db.change`
    update backtests set alive_at_ms = ${nowMs}, events_done = ${eventsDone},
      events_total = greatest(events_total, ${eventsDone})
    where ${db.isOwn()} and id = ${id} and status = 'running'`;
  return changed === 1;
}

/** Ends a running backtest; one that has ended already stays as it is. */
export async function finish(db: ProjectDb, id: string, end: BacktestEnd, finishedAt: number): Promise<void> {
  const failure = end.status === 'failed' ? end.failure : undefined;
  await db
    .update('backtests', {
      status: end.status,
      failure_code: failure?.code ?? null,
      failure_message: failure?.message ?? null,
      finished_at: finishedAt,
      ...(end.status === 'failed'
        ? {}
        : {
            result: JSON.stringify(end.result),
            events_done: end.eventsDone,
            events_total: end.eventsTotal,
          }),
    })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute();
}

/** Whether a backtest is one of a plan, or without a plan one of rules. */
function isOf(planId: string | undefined) {
  return sql<boolean>`usage_limit_plan_id is not distinct from ${planId ?? null}::text`;
}

/** Ends a running backtest on request, whichever node runs it. */
export async function markCancelled(
  db: ProjectDb,
  { id, planId }: BacktestKey,
  finishedAt: number,
): Promise<void> {
  await db.change`update backtests set status = 'cancelled', finished_at = ${finishedAt}
    where ${db.isOwn()} and id = ${id} and ${isOf(planId)} and status = 'running'`;
}

/**
 * Ends the project's backtest whose node has reported nothing since a time: the node has ended, or cannot reach the
 * database.
 */
export async function failSilent(
  db: ProjectDb,
  silentSinceMs: number,
  failure: NonNullable<Backtest['failure']>,
  finishedAt: number,
): Promise<void> {
  await db.change`update backtests set status = 'failed', failure_code = ${failure.code},
      failure_message = ${failure.message}, finished_at = ${finishedAt}
    where ${db.isOwn()} and status = 'running' and alive_at_ms < ${silentSinceMs}`;
}

/** Deletes the oldest ended backtests of the project, when it has more than `keptMax`. */
export async function deleteSurplus(db: ProjectDb, keptMax: number): Promise<void> {
  await db.change`delete from backtests where ${db.isOwn()} and status <> 'running' and id in (
    select id from backtests where ${db.isOwn()} order by id desc offset ${keptMax})`;
}

/** Returns one backtest; undefined when the plan, or the rules, have none with this id since `createdSince`. */
export async function readBacktest(
  db: ProjectDb,
  { id, planId }: BacktestKey,
  createdSince: number,
): Promise<StoredBacktest | undefined> {
  return db.row<StoredBacktest>`
    select ${LISTED}, request, result from backtests
    where ${db.isOwn()} and id = ${id} and created_at >= ${createdSince} and ${isOf(planId)}`;
}

/** Returns the backtests of a plan or, without one, of rules, newest first. */
export async function listBacktests(
  db: ProjectDb,
  planId: string | undefined,
  createdSince: number,
  { limit, offset }: Page,
): Promise<ListPage<ListedBacktest & Pick<StoredBacktest, 'request'>>> {
  const found = db.part`from backtests where ${db.isOwn()} and ${isOf(planId)} and created_at >= ${createdSince}`;
  // The requests of rules contain these, and may be large.
  const request = planId === undefined ? sql`null` : sql`request`;
  const items = await db.rows<ListedBacktest & Pick<StoredBacktest, 'request'>>`
    select ${LISTED}, ${request} as request ${found} order by id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items, totalCount: counted?.total ?? 0 };
}
