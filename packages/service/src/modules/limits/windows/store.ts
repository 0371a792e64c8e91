import { type RawBuilder, sql } from 'kysely';
import { present } from '../../../kernel/present.js';
import { noting } from '../../../platform/changes/index.js';
import { arrayLiteral, quotedText, type Tx } from '../../../platform/postgres/index.js';
import { amountFromText, numericText } from '../../ledger/index.js';
import { subjectNumber } from '../rules/route-rules.js';
import { CurrentWindows, type OpenedWindow, type WindowLists } from './current-windows.js';
import type { SubjectUsage, WindowSum } from './subject-usage.js';
import { lowestPercent } from './threshold-crossing.js';

interface CurrentRow {
  /** Position of the subject, from 1 on. */
  readonly position: number;
  /** An array literal. */
  readonly used: string;
  /** All other lists, as array literals. */
  readonly lists: string;
}

/**
 * Reads the current windows of subjects, in the order of the subjects, with one statement. Nobody changes them while
 * the posting lock is held.
 */
export async function readCurrentWindows(
  tx: Tx,
  subjects: readonly SubjectUsage[],
): Promise<CurrentWindows[]> {
  const { rows } = await sql<CurrentRow>`
    select v.position::integer, w.used::text, concat_ws('|', w.rule_nos, w.window_starts, w.window_ends, w.limit_amounts,
      w.next_notices, w.opened_at_ms) as lists
    from unnest(${keyLists(subjects)}) with ordinality as v (${KEY}, position) join current_windows w on ${IS_NAMED}
  `.execute(tx);
  // The lists of most subjects are equal, so equal ones are parsed once.
  const known = new Map<string, WindowLists>();
  const stored = new Map<SubjectUsage, CurrentWindows>();
  for (const { position, used, lists: text } of rows) {
    let lists = known.get(text);
    if (lists === undefined) {
      lists = readLists(text);
      known.set(text, lists);
    }
    const usage = present(subjects[position - 1], 'the subject of a row of current windows');
    stored.set(usage, new CurrentWindows(usage, lists, elements(used)));
  }
  return subjects.map((usage) => stored.get(usage) ?? new CurrentWindows(usage));
}

/** Writes the changed windows, with two statements. */
export async function writeCurrentWindows(tx: Tx, windows: readonly CurrentWindows[]): Promise<void> {
  const added = windows.filter(({ change }) => change === 'used');
  if (added.length > 0) {
    await sql`
      ${notingSubjects(added)}
      update current_windows w set used = v.used::numeric[]
      from unnest(${keysOf(added)}, ${usedLists(added)}) as v (${KEY}, used) where ${IS_NAMED}
    `.execute(tx);
  }
  const changed = windows.filter(({ change }) => change === 'all');
  if (changed.length > 0) await putCurrentWindows(tx, changed);
}

async function putCurrentWindows(tx: Tx, windows: readonly CurrentWindows[]): Promise<void> {
  const lists = (list: (of: WindowLists) => readonly unknown[]) =>
    sql`${arrayLiteral(windows, (row) => `"{${list(row.lists).join()}}"`)}::text[]`;
  await sql`
    ${notingSubjects(windows)}
    insert into current_windows (${KEY}, used, rule_nos, window_starts, window_ends, limit_amounts, next_notices, opened_at_ms)
    select ${KEY}, used::numeric[], rule_nos::integer[], starts::bigint[], ends::bigint[], limits::numeric[],
      notices::numeric[], opened_at_ms::bigint[]
    from unnest(${keysOf(windows)}, ${usedLists(windows)}, ${lists(({ ruleNos }) => ruleNos)},
      ${lists(({ starts }) => starts)}, ${lists(({ ends }) => ends.map((end) => end ?? 'null'))},
      ${lists(({ limits }) => limits.map(numericText))},
      ${lists(({ notices }) => notices.map((notice) => (notice === undefined ? 'null' : numericText(notice))))},
      ${lists(({ openedAtMs }) => openedAtMs)}
    ) as v (${KEY}, used, rule_nos, starts, ends, limits, notices, opened_at_ms)
    on conflict (${KEY}) do update set used = excluded.used, rule_nos = excluded.rule_nos,
      window_starts = excluded.window_starts, window_ends = excluded.window_ends, limit_amounts = excluded.limit_amounts,
      next_notices = excluded.next_notices, opened_at_ms = excluded.opened_at_ms
  `.execute(tx);
}

function readLists(text: string): WindowLists {
  const [ruleNos = [], starts = [], ends = [], limits = [], notices = [], openedAtMs = []] = text
    .split('|')
    .map(elements);
  return {
    ruleNos: ruleNos.map(integer),
    starts: starts.map(integer),
    ends: ends.map((end) => (end === NULL ? null : integer(end))),
    limits: limits.map(amountFromText),
    notices: notices.map((notice) => (notice === NULL ? undefined : amountFromText(notice))),
    openedAtMs: openedAtMs.map(integer),
  };
}

/** @throws Error for text that is not an integer, which `Number` could turn into 0 */
function integer(text: string): number {
  if (!/^-?\d+$/.test(text))
    throw new Error(`a list of current windows holds "${text}" in place of an integer`);
  return Number(text);
}

const NULL = 'NULL';

/** Returns the elements of an array literal of numbers. */
function elements(literal: string): string[] {
  return literal === '{}' ? [] : literal.slice(1, -1).split(',');
}

function usedLists(windows: readonly CurrentWindows[]): RawBuilder<unknown> {
  return sql`${arrayLiteral(windows, ({ used }) => `"{${used.join()}}"`)}::text[]`;
}

function keysOf(windows: readonly CurrentWindows[]): RawBuilder<unknown> {
  return keyLists(windows.map(({ usage }) => usage));
}

/** Returns the columns of {@link KEY} as lists. */
function keyLists(subjects: readonly SubjectUsage[]): RawBuilder<unknown> {
  return sql`${arrayLiteral(subjects, ({ scope }) => scope.projectNo)}::integer[],
    ${arrayLiteral(subjects, ({ subject }) => subject.type)}::text[],
    ${arrayLiteral(subjects, ({ subject }) => quotedText(subject.id))}::text[]`;
}

const KEY = sql`project_no, subject_type, subject_id`;
const IS_NAMED = sql`w.project_no = v.project_no and w.subject_type = v.subject_type and w.subject_id = v.subject_id`;

/** Returns the beginning of a statement that changes windows of these subjects. */
function notingSubjects(
  windows: readonly { readonly usage: UsageWindowKey['usage'] }[],
): RawBuilder<unknown> {
  return noting(windows.map(({ usage: { scope, subject } }) => subjectNumber(scope.projectNo, subject)));
}

/** A past window whose usage may have passed a threshold. */
export interface AlertDueWindow {
  /** Its index in the list of added sums. */
  readonly index: number;
  readonly used: bigint;
  readonly limit: bigint;
  readonly notice: bigint | undefined;
}

/**
 * Adds to the past windows that exist, with one statement. A window may occur only once in the list. Only the holder of
 * the posting lock writes windows, so nobody waits for the rows.
 *
 * @returns the number of these windows, and those that have reached their next alert, or had reached a threshold
 * before: they may have fallen below it
 */
export async function addToPastWindows(
  tx: Tx,
  sums: readonly WindowSum[],
): Promise<{ readonly added: number; readonly due: readonly AlertDueWindow[] }> {
  const { rows } = await sql<{ added: number; due: [number, string, string, string | null][] }>`
    ${notingSubjects(sums)}, written as (
      update past_windows w set used = w.used + v.used from ${namedWindows(sums)} where ${IS_NAMED_PAST}
      returning v.position, v.first_percent, w.used, w.limit_amount, w.next_notice
    )
    select count(*) as added, coalesce(json_agg(
      json_build_array(position, used::text, limit_amount::text, next_notice::text) order by position
    ) filter (
      where used >= next_notice or next_notice is null or next_notice > limit_amount * first_percent * 0.01
    ), '[]') as due
    from written
  `.execute(tx);
  const row = rows[0];
  if (row === undefined) throw new Error('an aggregate returned no row');
  return {
    added: row.added,
    due: row.due.map(([position, used, limit, notice]) => ({
      index: position - 1,
      used: amountFromText(used),
      limit: amountFromText(limit),
      notice: notice === null ? undefined : amountFromText(notice),
    })),
  };
}

/** Returns the indexes of the windows that do not exist as past ones yet. */
export async function missingPastWindows(tx: Tx, sums: readonly WindowSum[]): Promise<number[]> {
  const { rows } = await sql<{ position: number }>`
    select v.position from ${namedWindows(sums)}
    where not exists (select from past_windows w where ${IS_NAMED_PAST}) order by v.position
  `.execute(tx);
  return rows.map(({ position }) => position - 1);
}

export async function insertPastWindows(tx: Tx, windows: readonly OpenedWindow[]): Promise<void> {
  if (windows.length === 0) return;
  await sql`
    ${notingSubjects(windows)}
    insert into past_windows (${PAST_KEY}, used, window_end, limit_amount, next_notice, opened_at_ms)
    select * from unnest(${pastKeyLists(windows)}, ${arrayLiteral(windows, ({ used }) => numericText(used))}::numeric[],
      ${arrayLiteral(windows, ({ endS }) => endS ?? 'null')}::bigint[],
      ${arrayLiteral(windows, ({ limit }) => numericText(limit))}::numeric[], ${nextNotices(windows)},
      ${arrayLiteral(windows, ({ openedAtMs }) => openedAtMs)}::bigint[])
  `.execute(tx);
}

/**
 * Returns the table `v`: windows with the amounts to add, the lowest percentage of their rules that sends an alert, and
 * their position in the list, from 1 on.
 */
function namedWindows(sums: readonly WindowSum[]): RawBuilder<unknown> {
  return sql`unnest(${pastKeyLists(sums.map(windowKeyOf))}, ${arrayLiteral(sums, ({ used }) => numericText(used))}::numeric[],
      ${arrayLiteral(sums, ({ rule }) => lowestPercent(rule))}::integer[])
    with ordinality as v (${PAST_KEY}, used, first_percent, position)`;
}

/** Identifies a window of a subject whose usage is counted. */
export interface UsageWindowKey extends Pick<OpenedWindow, 'ruleNo' | 'startS'> {
  readonly usage: Pick<SubjectUsage, 'scope' | 'subject'>;
}

export function windowKeyOf({ usage, rule, window }: WindowSum): UsageWindowKey {
  return { usage, ruleNo: rule.ruleNo, startS: window.startS };
}

/** Returns the columns of {@link PAST_KEY} as lists. */
export function pastKeyLists(windows: readonly UsageWindowKey[]): RawBuilder<unknown> {
  return sql`
    ${arrayLiteral(windows, ({ usage }) => usage.scope.projectNo)}::integer[],
    ${arrayLiteral(windows, ({ usage }) => usage.subject.type)}::text[], ${quotedIds(windows)}::text[],
    ${arrayLiteral(windows, ({ ruleNo }) => ruleNo)}::integer[], ${arrayLiteral(windows, ({ startS }) => startS)}::bigint[]`;
}

const nextNotices = (windows: readonly Pick<OpenedWindow, 'next'>[]) =>
  sql`${arrayLiteral(windows, ({ next }) => (next === undefined ? 'null' : numericText(next)))}::numeric[]`;

/** The columns that identify a window. */
export const PAST_KEY = sql`project_no, subject_type, subject_id, rule_no, window_start`;
const IS_NAMED_PAST = sql`w.project_no = v.project_no and w.subject_type = v.subject_type and w.subject_id = v.subject_id
  and w.rule_no = v.rule_no and w.window_start = v.window_start`;

/** Quotes an id once for successive windows of the same subject. */
function quotedIds(windows: readonly UsageWindowKey[]): string {
  let latest: UsageWindowKey['usage'] | undefined;
  let quoted = '';
  return arrayLiteral(windows, ({ usage }) => {
    if (usage !== latest) quoted = quotedText(usage.subject.id);
    latest = usage;
    return quoted;
  });
}

/** A past window whose alert was sent, and the usage at which its next one is due. */
export interface NextAlert {
  readonly sum: WindowSum;
  readonly next: bigint | undefined;
}

/** Stores the usage at which the next alert of each past window is due. */
export async function recordNextAlerts(tx: Tx, windows: readonly NextAlert[]): Promise<void> {
  if (windows.length === 0) return;
  await sql`
    update past_windows w set next_notice = v.next_notice
    from unnest(${pastKeyLists(windows.map(({ sum }) => windowKeyOf(sum)))}, ${nextNotices(windows)}) as v (${PAST_KEY}, next_notice)
    where ${IS_NAMED_PAST}
  `.execute(tx);
}

/** Returns the reserved amounts of the windows' rules, × 10^18, in the order of the windows. */
export async function readReserved(tx: Tx, sums: readonly WindowSum[]): Promise<bigint[]> {
  if (sums.length === 0) return [];
  const { rows } = await sql<{ reserved: string }>`
    select coalesce(r.reserved, 0) as reserved
    from unnest(${pastKeyLists(sums.map(windowKeyOf))}) with ordinality as v (${PAST_KEY}, position)
    left join limit_reserved r on r.project_no = v.project_no and r.subject_type = v.subject_type
      and r.subject_id = v.subject_id and r.rule_no = v.rule_no
    order by v.position
  `.execute(tx);
  return rows.map(({ reserved }) => amountFromText(reserved));
}
