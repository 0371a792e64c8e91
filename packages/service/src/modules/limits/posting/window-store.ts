import { type RawBuilder, sql } from 'kysely';
import { FRACTION_DIGITS_MAX } from '../../../kernel/decimal.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import type { Subject } from '../standing.js';

/** Names the advisory lock under which batches lock leases, windows and wallets: one batch at a time. */
const POSTING_LOCK = 'tollgate-posting';

/**
 * Waits until nobody else posts, and keeps it so to the end of `tx`. Whoever writes windows takes it first: what is changed in
 * those that exist then reaches those, too, that a batch is opening.
 */
export async function lockPosting(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${POSTING_LOCK}, 0))`.execute(tx);
}

/** What a batch adds to a window. Amounts × 10^18. */
export interface WindowUse {
  readonly projectNo: number;
  readonly subject: Subject;
  readonly ruleNo: number;
  readonly startS: number;
  readonly used: bigint;
}

/** A window that exists now, whose usage has reached what it was to tell next. */
export interface ReachedWindow {
  /** Its index in what was added. */
  readonly index: number;
  readonly used: bigint;
  readonly limit: bigint;
  readonly notice: bigint;
}

/**
 * Adds to the windows that exist: one statement for all. No window may be named twice. Only who holds the posting lock writes
 * windows, so nobody waits for the rows.
 */
export async function addToWindows(
  tx: Tx,
  uses: readonly WindowUse[],
): Promise<{ readonly added: number; readonly reached: readonly ReachedWindow[] }> {
  const { rows } = await sql<{ added: number; reached: [number, string, string, string][] }>`
    with written as (
      update limit_windows w set used = w.used + v.used from ${namedWindows(uses)} where ${IS_NAMED}
      returning v.position, w.used, w.limit_amount, w.next_notice
    )
    select count(*) as added, coalesce(json_agg(
      json_build_array(position, used::text, limit_amount::text, next_notice::text) order by position
    ) filter (where used >= next_notice), '[]') as reached
    from written
  `.execute(tx);
  const { added = 0, reached = [] } = rows[0] ?? {};
  return {
    added,
    reached: reached.map(([position, used, limit, notice]) => ({
      index: position - 1,
      used: amountFromText(used),
      limit: amountFromText(limit),
      notice: amountFromText(notice),
    })),
  };
}

/** The indexes of those windows that do not exist yet. */
export async function missingWindows(tx: Tx, uses: readonly WindowUse[]): Promise<number[]> {
  const { rows } = await sql<{ position: number }>`
    select v.position from ${namedWindows(uses)}
    where not exists (select from limit_windows w where ${IS_NAMED}) order by v.position
  `.execute(tx);
  return rows.map(({ position }) => position - 1);
}

/** A window that a batch opens. */
export interface NewWindow extends WindowUse {
  /** Undefined for a lifetime. */
  readonly endS: number | undefined;
  readonly limit: bigint;
  /** What it is to tell next; undefined when all is told. */
  readonly next: bigint | undefined;
}

export async function openWindows(tx: Tx, windows: readonly NewWindow[], openedAtMs: number): Promise<void> {
  if (windows.length === 0) return;
  const list = (element: (window: NewWindow) => string | number) => literal(windows, element);
  await sql`
    insert into limit_windows (project_no, subject_type, subject_id, rule_no, window_start, window_end, used, limit_amount,
      next_notice, opened_at_ms)
    select *, ${openedAtMs}::bigint from unnest(
      ${list(({ projectNo }) => projectNo)}::integer[], ${list(({ subject }) => subject.type)}::text[],
      ${list(({ subject }) => quoted(subject.id))}::text[], ${list(({ ruleNo }) => ruleNo)}::integer[],
      ${list(({ startS }) => startS)}::bigint[], ${list(({ endS }) => endS ?? 'null')}::bigint[],
      ${list(({ used }) => numericText(used))}::numeric[], ${list(({ limit }) => numericText(limit))}::numeric[],
      ${list(({ next }) => (next === undefined ? 'null' : numericText(next)))}::numeric[])
  `.execute(tx);
}

/** The table `v`: windows with what is added to them, and their position in the list, from 1. */
function namedWindows(uses: readonly WindowUse[]): RawBuilder<unknown> {
  const list = (element: (use: WindowUse) => string | number) => literal(uses, element);
  return sql`unnest(
    ${list(({ projectNo }) => projectNo)}::integer[], ${list(({ subject }) => subject.type)}::text[],
    ${list(({ subject }) => quoted(subject.id))}::text[], ${list(({ ruleNo }) => ruleNo)}::integer[],
    ${list(({ startS }) => startS)}::bigint[], ${list(({ used }) => numericText(used))}::numeric[]
  ) with ordinality as v (project_no, subject_type, subject_id, rule_no, window_start, used, position)`;
}

const IS_NAMED = sql`w.project_no = v.project_no and w.subject_type = v.subject_type and w.subject_id = v.subject_id
  and w.rule_no = v.rule_no and w.window_start = v.window_start`;

/**
 * An array literal, written here and not by the driver: a batch has tens of thousands of windows, and most of their values need no
 * escaping.
 */
function literal<Row>(rows: readonly Row[], element: (row: Row) => string | number): string {
  let text = '{';
  for (const row of rows) text += text.length === 1 ? element(row) : `,${element(row)}`;
  return `${text}}`;
}

/** An element of an array literal that may hold anything. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** A numeric with 18 fraction digits, of which the last may be zeros. */
function numericText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(FRACTION_DIGITS_MAX + 1, '0');
  const sign = amount < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -FRACTION_DIGITS_MAX)}.${digits.slice(-FRACTION_DIGITS_MAX)}`;
}

/** Notes what windows are to tell next. */
export async function moveNotices(
  tx: Tx,
  windows: readonly (Omit<WindowUse, 'used'> & Pick<NewWindow, 'next'>)[],
): Promise<void> {
  if (windows.length === 0) return;
  await sql`
    update limit_windows w set next_notice = v.next_notice
    from unnest(${windows.map(({ projectNo }) => projectNo)}::integer[],
      ${windows.map(({ subject }) => subject.type)}::text[], ${windows.map(({ subject }) => subject.id)}::text[],
      ${windows.map(({ ruleNo }) => ruleNo)}::integer[], ${windows.map(({ startS }) => startS)}::bigint[],
      ${windows.map(({ next }) => (next === undefined ? null : numericText(next)))}::numeric[]
    ) as v (project_no, subject_type, subject_id, rule_no, window_start, next_notice)
    where ${IS_NAMED}
  `.execute(tx);
}

/** What is reserved of the rules of windows, × 10^18, in the order of these. */
export async function readReserved(
  tx: Tx,
  windows: readonly Pick<WindowUse, 'projectNo' | 'subject' | 'ruleNo'>[],
): Promise<bigint[]> {
  if (windows.length === 0) return [];
  const { rows } = await sql<{ reserved: string }>`
    select coalesce(r.reserved, 0) as reserved
    from unnest(${windows.map(({ projectNo }) => projectNo)}::integer[],
      ${windows.map(({ subject }) => subject.type)}::text[], ${windows.map(({ subject }) => subject.id)}::text[],
      ${windows.map(({ ruleNo }) => ruleNo)}::integer[]
    ) with ordinality as k (project_no, subject_type, subject_id, rule_no, position)
    left join limit_reserved r on r.project_no = k.project_no and r.subject_type = k.subject_type
      and r.subject_id = k.subject_id and r.rule_no = k.rule_no
    order by k.position
  `.execute(tx);
  return rows.map(({ reserved }) => amountFromText(reserved));
}
