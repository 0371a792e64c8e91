import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import { arrayLiteral, numericText, quotedText } from './array-literal.js';
import { CurrentWindows, type WindowLists } from './current-windows.js';
import type { SubjectUsage } from './subject-usage.js';

/** A row; its lists are array literals. */
interface CurrentRow {
  /** Of the subject, from 1 on. */
  readonly position: number;
  readonly rule_nos: string;
  readonly window_starts: string;
  readonly window_ends: string;
  readonly used: string;
  readonly limit_amounts: string;
  readonly next_notices: string;
  readonly opened_at_ms: string;
}

/** The current windows of subjects, in the order of these: one statement for all. They stay so while the posting lock is held. */
export async function readCurrentWindows(
  tx: Tx,
  subjects: readonly SubjectUsage[],
): Promise<CurrentWindows[]> {
  const { rows } = await sql<CurrentRow>`
    select v.position, w.rule_nos::text, w.window_starts::text, w.window_ends::text, w.used::text, w.limit_amounts::text,
      w.next_notices::text, w.opened_at_ms::text
    from unnest(${keyLists(subjects)}) with ordinality as v (${KEY}, position) join current_windows w on ${IS_NAMED}
  `.execute(tx);
  const read = new Array<CurrentRow | undefined>(subjects.length).fill(undefined);
  for (const row of rows) read[row.position - 1] = row;
  const lists = new ListReader();
  return subjects.map((usage, index) => {
    const row = read[index];
    return row === undefined
      ? new CurrentWindows(usage)
      : new CurrentWindows(usage, lists.listsOf(row), elements(row.used));
  });
}

/** Writes back what has changed: two statements for all. */
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

/** Reads the lists of subjects. Those of many are the same: each is read once, and nearly always it is that of the subject before. */
class ListReader {
  readonly #known = new Map<string, WindowLists>();
  #latest: { readonly row: CurrentRow; readonly lists: WindowLists } | undefined;

  listsOf(row: CurrentRow): WindowLists {
    if (this.#latest !== undefined && isAlike(this.#latest.row, row)) return this.#latest.lists;
    const text = LISTS.map((list) => row[list]).join();
    const lists = this.#known.get(text) ?? readLists(row);
    this.#known.set(text, lists);
    this.#latest = { row, lists };
    return lists;
  }
}

const LISTS = [
  'rule_nos',
  'window_starts',
  'window_ends',
  'limit_amounts',
  'next_notices',
  'opened_at_ms',
] as const;

function isAlike(a: CurrentRow, b: CurrentRow): boolean {
  return LISTS.every((list) => a[list] === b[list]);
}

function readLists(row: CurrentRow): WindowLists {
  return {
    ruleNos: elements(row.rule_nos).map(Number),
    starts: elements(row.window_starts).map(Number),
    ends: elements(row.window_ends).map((end) => (end === NULL ? null : Number(end))),
    limits: elements(row.limit_amounts).map(amountFromText),
    notices: elements(row.next_notices).map((notice) =>
      notice === NULL ? undefined : amountFromText(notice),
    ),
    openedAtMs: elements(row.opened_at_ms).map(Number),
  };
}

const NULL = 'NULL';

/** Of an array literal of numbers, which is never empty. */
function elements(literal: string): string[] {
  return literal.slice(1, -1).split(',');
}

function usedLists(windows: readonly CurrentWindows[]): RawBuilder<unknown> {
  return sql`${arrayLiteral(windows, ({ used }) => `"{${used.join()}}"`)}::text[]`;
}

function keysOf(windows: readonly CurrentWindows[]): RawBuilder<unknown> {
  return keyLists(windows.map(({ usage }) => usage));
}

/** The columns of {@link KEY}, as lists. */
function keyLists(subjects: readonly SubjectUsage[]): RawBuilder<unknown> {
  return sql`${arrayLiteral(subjects, ({ scope }) => scope.projectNo)}::integer[],
    ${arrayLiteral(subjects, ({ subject }) => subject.type)}::text[],
    ${arrayLiteral(subjects, ({ subject }) => quotedText(subject.id))}::text[]`;
}

const KEY = sql`project_no, subject_type, subject_id`;
const IS_NAMED = sql`w.project_no = v.project_no and w.subject_type = v.subject_type and w.subject_id = v.subject_id`;
