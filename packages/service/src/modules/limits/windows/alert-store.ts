import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';

/** A percentage of the limit of a window. */
export interface LimitAlertKey {
  readonly projectNo: number;
  readonly subject: LimitedSubject;
  readonly ruleNo: number;
  readonly startS: number;
  readonly percent: number;
}

/**
 * Records the next alert of each percentage. The caller holds the posting lock, under which all alerts are written.
 *
 * @returns the sequence of each alert, in the order of the keys; undefined for one whose alert was sent before and has
 * not ended
 */
export async function beginAlerts(tx: Tx, keys: readonly LimitAlertKey[]): Promise<(number | undefined)[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<AlertRow>`
    with written as (
      insert into limit_alerts as a (${KEY}, sequence, recovered)
      select ${KEY}, 1, false from ${named(keys)}
      on conflict (${KEY}) do update set sequence = a.sequence + 1, recovered = false where a.recovered
      returning ${KEY}, sequence
    )
    ${positions(keys)}
  `.execute(tx);
  return inOrder(keys, rows);
}

/**
 * Ends the alerts of percentages. The caller holds the posting lock.
 *
 * @returns the sequence of each alert, in the order of the keys; undefined for a percentage without an alert that has
 * not ended
 */
export async function endAlerts(tx: Tx, keys: readonly LimitAlertKey[]): Promise<(number | undefined)[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<AlertRow>`
    update limit_alerts a set recovered = true from ${named(keys)} where ${IS_NAMED} and not a.recovered
    returning v.position, a.sequence
  `.execute(tx);
  return inOrder(keys, rows);
}

/**
 * Records that the first alerts of percentages have ended, which an earlier release sent without recording them. The
 * caller holds the posting lock.
 *
 * @returns the sequence of each alert, in the order of the keys; undefined for a percentage whose alerts are recorded
 */
export async function endUnrecordedAlerts(
  tx: Tx,
  keys: readonly LimitAlertKey[],
): Promise<(number | undefined)[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<AlertRow>`
    with written as (
      insert into limit_alerts (${KEY}, sequence, recovered)
      select ${KEY}, 1, true from ${named(keys)}
      on conflict (${KEY}) do nothing
      returning ${KEY}, sequence
    )
    ${positions(keys)}
  `.execute(tx);
  return inOrder(keys, rows);
}

/**
 * Reads the alerts of sliding windows that have not ended: their percentages, in the order of the windows.
 */
export async function readOpenAlerts(
  tx: Tx,
  windows: readonly Omit<LimitAlertKey, 'startS' | 'percent'>[],
): Promise<number[][]> {
  const keys = windows.map((window) => ({ ...window, startS: 0, percent: 0 }));
  const { rows } = await sql<{ position: number; percent: number }>`
    select v.position::integer, a.percent from ${named(keys)} join limit_alerts a on a.project_no = v.project_no
      and a.subject_type = v.subject_type and a.subject_id = v.subject_id and a.rule_no = v.rule_no
      and a.window_start = v.window_start
    where not a.recovered order by a.percent
  `.execute(tx);
  const open = windows.map((): number[] => []);
  for (const { position, percent } of rows) open[position - 1]?.push(percent);
  return open;
}

interface AlertRow {
  /** Position of the key, from 1 on. */
  readonly position: number;
  readonly sequence: number;
}

function inOrder(keys: readonly LimitAlertKey[], rows: readonly AlertRow[]): (number | undefined)[] {
  const sequences = new Map(rows.map(({ position, sequence }) => [position, sequence]));
  return keys.map((_, index) => sequences.get(index + 1));
}

/** Returns the rows of `written` with the positions of their keys. */
const positions = (keys: readonly LimitAlertKey[]) =>
  sql`select v.position::integer, a.sequence from written a join ${named(keys)} on ${IS_NAMED}`;

/** Returns the table `v`: the keys, with their positions from 1 on. */
function named(keys: readonly LimitAlertKey[]): RawBuilder<unknown> {
  return sql`unnest(
    ${keys.map(({ projectNo }) => projectNo)}::integer[], ${keys.map(({ subject }) => subject.type)}::text[],
    ${keys.map(({ subject }) => subject.id)}::text[], ${keys.map(({ ruleNo }) => ruleNo)}::integer[],
    ${keys.map(({ startS }) => startS)}::bigint[], ${keys.map(({ percent }) => percent)}::integer[]
  ) with ordinality as v (${KEY}, position)`;
}

const KEY = sql`project_no, subject_type, subject_id, rule_no, window_start, percent`;
const IS_NAMED = sql`a.project_no = v.project_no and a.subject_type = v.subject_type and a.subject_id = v.subject_id
  and a.rule_no = v.rule_no and a.window_start = v.window_start and a.percent = v.percent`;
