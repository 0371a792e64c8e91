import { type RawBuilder, sql } from 'kysely';
import { FRACTION_DIGITS_MAX } from '../../../kernel/decimal.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import type { SubjectUsage, WindowSum } from './subject-usage.js';

/** Names the advisory lock under which batches lock leases, windows and wallets: one batch at a time. */
const POSTING_LOCK = 'tollgate-posting';

/**
 * Waits until nobody else posts, and keeps it so to the end of `tx`. Whoever writes windows takes it first: what is changed in
 * those that exist then reaches those, too, that a batch is opening.
 */
export async function lockPosting(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${POSTING_LOCK}, 0))`.execute(tx);
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
  sums: readonly WindowSum[],
): Promise<{ readonly added: number; readonly reached: readonly ReachedWindow[] }> {
  const { rows } = await sql<{ added: number; reached: [number, string, string, string][] }>`
    with written as (
      update limit_windows w set used = w.used + v.used from ${namedWindows(sums)} where ${IS_NAMED}
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
export async function missingWindows(tx: Tx, sums: readonly WindowSum[]): Promise<number[]> {
  const { rows } = await sql<{ position: number }>`
    select v.position from ${namedWindows(sums)}
    where not exists (select from limit_windows w where ${IS_NAMED}) order by v.position
  `.execute(tx);
  return rows.map(({ position }) => position - 1);
}

/** A window that a batch opens. Amounts × 10^18. */
export interface NewWindow {
  readonly sum: WindowSum;
  readonly limit: bigint;
  /** What it is to tell next; undefined when all is told. */
  readonly next: bigint | undefined;
}

export async function openWindows(tx: Tx, windows: readonly NewWindow[], openedAtMs: number): Promise<void> {
  if (windows.length === 0) return;
  await sql`
    insert into limit_windows (project_no, subject_type, subject_id, rule_no, window_start, used, window_end, limit_amount,
      next_notice, opened_at_ms)
    select *, ${openedAtMs}::bigint from unnest(
      ${keyLists(windows.map(({ sum }) => sum))}, ${literal(windows, ({ sum }) => numericText(sum.used))}::numeric[],
      ${literal(windows, ({ sum }) => sum.window.endS ?? 'null')}::bigint[],
      ${literal(windows, ({ limit }) => numericText(limit))}::numeric[], ${nextNotices(windows)})
  `.execute(tx);
}

/** The table `v`: windows with what is added to them, and their position in the list, from 1. */
function namedWindows(sums: readonly WindowSum[]): RawBuilder<unknown> {
  return sql`unnest(${keyLists(sums)}, ${literal(sums, ({ used }) => numericText(used))}::numeric[])
    with ordinality as v (${KEY}, used, position)`;
}

/** The columns of {@link KEY}, as lists. */
function keyLists(sums: readonly WindowSum[]): RawBuilder<unknown> {
  return sql`
    ${literal(sums, ({ usage }) => usage.scope.projectNo)}::integer[],
    ${literal(sums, ({ usage }) => usage.subject.type)}::text[], ${quotedIds(sums)}::text[],
    ${literal(sums, ({ rule }) => rule.ruleNo)}::integer[], ${literal(sums, ({ window }) => window.startS)}::bigint[]`;
}

const nextNotices = (windows: readonly Pick<NewWindow, 'next'>[]) =>
  sql`${literal(windows, ({ next }) => (next === undefined ? 'null' : numericText(next)))}::numeric[]`;

const KEY = sql`project_no, subject_type, subject_id, rule_no, window_start`;
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

/** Windows of one subject follow each other: its id is quoted once. */
function quotedIds(sums: readonly WindowSum[]): string {
  let latest: SubjectUsage | undefined;
  let quoted = '';
  return literal(sums, ({ usage }) => {
    if (usage !== latest) quoted = `"${usage.subject.id.replace(/["\\]/g, '\\$&')}"`;
    latest = usage;
    return quoted;
  });
}

/** A numeric with 18 fraction digits, of which the last may be zeros. */
function numericText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(FRACTION_DIGITS_MAX + 1, '0');
  const sign = amount < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -FRACTION_DIGITS_MAX)}.${digits.slice(-FRACTION_DIGITS_MAX)}`;
}

/** Notes what windows are to tell next. */
export async function moveNotices(
  tx: Tx,
  windows: readonly Pick<NewWindow, 'sum' | 'next'>[],
): Promise<void> {
  if (windows.length === 0) return;
  await sql`
    update limit_windows w set next_notice = v.next_notice
    from unnest(${keyLists(windows.map(({ sum }) => sum))}, ${nextNotices(windows)}) as v (${KEY}, next_notice)
    where ${IS_NAMED}
  `.execute(tx);
}

/** What is reserved of the rules of windows, × 10^18, in the order of these. */
export async function readReserved(tx: Tx, sums: readonly WindowSum[]): Promise<bigint[]> {
  if (sums.length === 0) return [];
  const { rows } = await sql<{ reserved: string }>`
    select coalesce(r.reserved, 0) as reserved
    from unnest(${keyLists(sums)}) with ordinality as v (${KEY}, position)
    left join limit_reserved r on r.project_no = v.project_no and r.subject_type = v.subject_type
      and r.subject_id = v.subject_id and r.rule_no = v.rule_no
    order by v.position
  `.execute(tx);
  return rows.map(({ reserved }) => amountFromText(reserved));
}
