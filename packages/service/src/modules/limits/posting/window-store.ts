import { type RawBuilder, sql } from 'kysely';
import { fromStored, toText } from '../../../kernel/decimal.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import type { Subject } from '../standing.js';

/** Names the advisory lock under which batches lock leases, windows and wallets: one batch at a time. */
const POSTING_LOCK = 'tollgate-posting';

/**
 * Waits until no other batch is posting, and keeps it so to the end of `tx`. What changes windows that exist, and has to reach
 * those that a batch is opening as well, takes it too.
 */
export async function lockPosting(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${POSTING_LOCK}, 0))`.execute(tx);
}

/** What a batch adds to one window. Amounts × 10^18. */
export interface WindowUse {
  readonly ruleNo: number;
  readonly startS: number;
  /** Undefined for a lifetime. */
  readonly endS: number | undefined;
  readonly used: bigint;
  /** Of the window, if the batch opens it. */
  readonly limit: bigint;
  /** The usage at which it has something to tell, likewise. */
  readonly firstNotice: bigint;
}

/** What a batch adds to the windows of one subject. */
export interface SubjectWindows {
  readonly projectNo: number;
  readonly subject: Subject;
  readonly windows: readonly WindowUse[];
}

/** A window whose usage has reached what it was to tell next. */
export interface ReachedWindow {
  readonly projectNo: number;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly ruleNo: number;
  readonly startS: number;
  /** × 10^18, as are the others. */
  readonly used: bigint;
  readonly limit: bigint;
  readonly notice: bigint;
}

/**
 * Adds to windows, and opens those that do not exist: one statement for all. Answers only those whose usage has reached what they
 * were to tell next. No window may be named twice.
 */
export async function addToWindows(
  tx: Tx,
  uses: readonly SubjectWindows[],
  openedAtMs: number,
): Promise<ReachedWindow[]> {
  if (uses.length === 0) return [];
  const { rows } = await sql<{
    project_no: number;
    subject_type: string;
    subject_id: string;
    rule_no: number;
    window_start: number;
    used: string;
    limit_amount: string;
    next_notice: string;
  }>`
    with written as (
      insert into limit_windows as w (project_no, subject_type, subject_id, rule_no, window_start, window_end, used,
        limit_amount, next_notice, opened_at_ms)
      select *, ${openedAtMs}::bigint from unnest(${windowColumns(uses)}) order by 1, 2, 3, 4, 5
      on conflict (project_no, subject_type, subject_id, rule_no, window_start)
      do update set used = w.used + excluded.used
      returning project_no, subject_type, subject_id, rule_no, window_start, used, limit_amount, next_notice
    )
    select * from written where used >= next_notice
  `.execute(tx);
  return rows.map((row) => ({
    projectNo: row.project_no,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    ruleNo: row.rule_no,
    startS: row.window_start,
    used: amountFromText(row.used),
    limit: amountFromText(row.limit_amount),
    notice: amountFromText(row.next_notice),
  }));
}

/**
 * The columns as array literals, written here: a batch has tens of thousands of rows, and most of their values are numbers, which
 * need no escaping, or repeat.
 */
function windowColumns(uses: readonly SubjectWindows[]): RawBuilder<unknown> {
  const projectNos: number[] = [];
  const types: string[] = [];
  const ids: string[] = [];
  const ruleNos: number[] = [];
  const starts: number[] = [];
  const ends: (number | 'null')[] = [];
  const used: string[] = [];
  const limits: string[] = [];
  const notices: string[] = [];
  const textOf = amountTexts();
  for (const { projectNo, subject, windows } of uses) {
    const id = quoted(subject.id);
    for (const window of windows) {
      projectNos.push(projectNo);
      types.push(subject.type);
      ids.push(id);
      ruleNos.push(window.ruleNo);
      starts.push(window.startS);
      ends.push(window.endS ?? 'null');
      used.push(toText(fromStored(window.used)));
      limits.push(textOf(window.limit));
      notices.push(textOf(window.firstNotice));
    }
  }
  return sql`${literal(projectNos)}::integer[], ${literal(types)}::text[], ${literal(ids)}::text[],
    ${literal(ruleNos)}::integer[], ${literal(starts)}::bigint[], ${literal(ends)}::bigint[],
    ${literal(used)}::numeric[], ${literal(limits)}::numeric[], ${literal(notices)}::numeric[]`;
}

/** Limits are few, and written once. */
function amountTexts(): (amount: bigint) => string {
  const texts = new Map<bigint, string>();
  return (amount) => {
    let text = texts.get(amount);
    if (text === undefined) {
      text = toText(fromStored(amount));
      texts.set(amount, text);
    }
    return text;
  };
}

const literal = (elements: readonly (string | number)[]): string => `{${elements.join(',')}}`;

/** An element of an array literal that may hold anything. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** What a window is to tell next; undefined when all has been told. */
export interface NextNotice extends Omit<ReachedWindow, 'notice' | 'used' | 'limit'> {
  readonly next: bigint | undefined;
}

/** Notes what windows that this transaction has locked are to tell next. */
export async function moveNotices(tx: Tx, notices: readonly NextNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await sql`
    update limit_windows w set next_notice = n.next_notice
    from unnest(${notices.map(({ projectNo }) => projectNo)}::integer[],
      ${notices.map(({ subjectType }) => subjectType)}::text[], ${notices.map(({ subjectId }) => subjectId)}::text[],
      ${notices.map(({ ruleNo }) => ruleNo)}::integer[], ${notices.map(({ startS }) => startS)}::bigint[],
      ${notices.map(({ next }) => (next === undefined ? null : toText(fromStored(next))))}::numeric[]
    ) as n (project_no, subject_type, subject_id, rule_no, window_start, next_notice)
    where w.project_no = n.project_no and w.subject_type = n.subject_type and w.subject_id = n.subject_id
      and w.rule_no = n.rule_no and w.window_start = n.window_start
  `.execute(tx);
}

/** What is reserved of rules, × 10^18, in the order of the windows that are named. */
export async function readReserved(
  tx: Tx,
  windows: readonly Pick<ReachedWindow, 'projectNo' | 'subjectType' | 'subjectId' | 'ruleNo'>[],
): Promise<bigint[]> {
  const { rows } = await sql<{ reserved: string }>`
    select coalesce(r.reserved, 0) as reserved
    from unnest(${windows.map(({ projectNo }) => projectNo)}::integer[],
      ${windows.map(({ subjectType }) => subjectType)}::text[], ${windows.map(({ subjectId }) => subjectId)}::text[],
      ${windows.map(({ ruleNo }) => ruleNo)}::integer[]
    ) with ordinality as k (project_no, subject_type, subject_id, rule_no, position)
    left join limit_reserved r on r.project_no = k.project_no and r.subject_type = k.subject_type
      and r.subject_id = k.subject_id and r.rule_no = k.rule_no
    order by k.position
  `.execute(tx);
  return rows.map(({ reserved }) => amountFromText(reserved));
}
