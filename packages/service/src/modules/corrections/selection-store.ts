import type { BacktestRequest, BacktestResult } from '@tollgate/contract';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { ProjectHistory } from '../storage/index.js';
import { type EventFilter, rowSelection } from '../usage/index.js';

/** Returns those of the events that are stored as failed ones. */
export async function failedIdsAmong(db: ProjectDb, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>`
    select encode(uuid_send(f.raw_event_id), 'hex') as id from failed_events f
    where ${db.isOwn('f')} and f.raw_event_id = any(${ids}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns the number of rows that a filter selects. */
export async function countSelected(history: ProjectHistory, filter: EventFilter): Promise<number> {
  const selection = rowSelection(history, filter);
  if (selection === undefined) return 0;
  const [row] = await history.query<{ events: string }>(
    `SELECT count() AS events FROM ${history.tables.events}
     WHERE ${selection.conditions.join(' AND ')} AND NOT is_counter`,
    selection.params,
  );
  return Number(row?.events);
}

/** A backtest that a correction applies. */
export interface AppliedBacktest {
  readonly request: BacktestRequest;
  readonly result: BacktestResult;
}

/** Returns a backtest that has succeeded and is still kept. */
export function readAppliedBacktest(db: ProjectDb, id: string): Promise<AppliedBacktest | undefined> {
  return db.row<AppliedBacktest>`
    select b.request, b.result from backtests b
    where ${db.isOwn('b')} and b.id = ${id} and b.status = 'succeeded'`;
}
