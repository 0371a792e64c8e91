import { type RawBuilder, sql } from 'kysely';
import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import { arrayLiteral, numericText, quotedText } from './array-literal.js';
import { CurrentWindows, type WindowLists } from './current-windows.js';
import type { SubjectUsage } from './subject-usage.js';

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
