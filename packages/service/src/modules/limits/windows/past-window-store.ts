import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import { arrayLiteral, numericText, quotedText } from './array-literal.js';
import type { OpenedWindow } from './current-windows.js';
import type { SubjectUsage, WindowSum } from './subject-usage.js';

/** A past window whose usage has reached its next alert. */
export interface AlertDueWindow {
  /** Its index in the list of added sums. */
  readonly index: number;
  readonly used: bigint;
  readonly limit: bigint;
  readonly notice: bigint;
}

/**
 * Adds to the past windows that exist, with one statement. A window may occur only once in the list. Only the holder of
 * the posting lock writes windows, so nobody waits for the rows.
 */
export async function addToPastWindows(
  tx: Tx,
  sums: readonly WindowSum[],
): Promise<{ readonly added: number; readonly reached: readonly AlertDueWindow[] }> {
  const { rows } = await sql<{ added: number; reached: [number, string, string, string][] }>`
    with written as (
      update past_windows w set used = w.used + v.used from ${namedWindows(sums)} where ${IS_NAMED}
      returning v.position, w.used, w.limit_amount, w.next_notice
    )
    select count(*) as added, coalesce(json_agg(
      json_build_array(position, used::text, limit_amount::text, next_notice::text) order by position
    ) filter (where used >= next_notice), '[]') as reached
    from written
  `.execute(tx);
  const row = rows[0];
  if (row === undefined) throw new Error('an aggregate returned no row');
  return {
    added: row.added,
    reached: row.reached.map(([position, used, limit, notice]) => ({
      index: position - 1,
      used: amountFromText(used),
      limit: amountFromText(limit),
      notice: amountFromText(notice),
    })),
  };
}

/** Returns the indexes of the windows that do not exist as past ones yet. */
export async function missingPastWindows(tx: Tx, sums: readonly WindowSum[]): Promise<number[]> {
  const { rows } = await sql<{ position: number }>`
    select v.position from ${namedWindows(sums)}
    where not exists (select from past_windows w where ${IS_NAMED}) order by v.position
  `.execute(tx);
  return rows.map(({ position }) => position - 1);
}

export async function insertPastWindows(tx: Tx, windows: readonly OpenedWindow[]): Promise<void> {
  if (windows.length === 0) return;
  await sql`
    insert into past_windows (${KEY}, used, window_end, limit_amount, next_notice, opened_at_ms)
    select * from unnest(${keyLists(windows)}, ${arrayLiteral(windows, ({ used }) => numericText(used))}::numeric[],
      ${arrayLiteral(windows, ({ endS }) => endS ?? 'null')}::bigint[],
      ${arrayLiteral(windows, ({ limit }) => numericText(limit))}::numeric[], ${nextNotices(windows)},
      ${arrayLiteral(windows, ({ openedAtMs }) => openedAtMs)}::bigint[])
  `.execute(tx);
}

/** Returns the table `v`: windows with the amounts to add, and their position in the list, from 1 on. */
function namedWindows(sums: readonly WindowSum[]): RawBuilder<unknown> {
  return sql`unnest(${keyLists(sums.map(keyOf))}, ${arrayLiteral(sums, ({ used }) => numericText(used))}::numeric[])
    with ordinality as v (${KEY}, used, position)`;
}

type WindowKey = Pick<OpenedWindow, 'usage' | 'ruleNo' | 'startS'>;

function keyOf({ usage, rule, window }: WindowSum): WindowKey {
  return { usage, ruleNo: rule.ruleNo, startS: window.startS };
}

/** Returns the columns of {@link KEY} as lists. */
function keyLists(windows: readonly WindowKey[]): RawBuilder<unknown> {
  return sql`
    ${arrayLiteral(windows, ({ usage }) => usage.scope.projectNo)}::integer[],
    ${arrayLiteral(windows, ({ usage }) => usage.subject.type)}::text[], ${quotedIds(windows)}::text[],
    ${arrayLiteral(windows, ({ ruleNo }) => ruleNo)}::integer[], ${arrayLiteral(windows, ({ startS }) => startS)}::bigint[]`;
}

const nextNotices = (windows: readonly Pick<OpenedWindow, 'next'>[]) =>
  sql`${arrayLiteral(windows, ({ next }) => (next === undefined ? 'null' : numericText(next)))}::numeric[]`;

const KEY = sql`project_no, subject_type, subject_id, rule_no, window_start`;
const IS_NAMED = sql`w.project_no = v.project_no and w.subject_type = v.subject_type and w.subject_id = v.subject_id
  and w.rule_no = v.rule_no and w.window_start = v.window_start`;

/** Quotes an id once for successive windows of the same subject. */
function quotedIds(windows: readonly WindowKey[]): string {
  let latest: SubjectUsage | undefined;
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
    from unnest(${keyLists(windows.map(({ sum }) => keyOf(sum)))}, ${nextNotices(windows)}) as v (${KEY}, next_notice)
    where ${IS_NAMED}
  `.execute(tx);
}

/** Returns the reserved amounts of the windows' rules, × 10^18, in the order of the windows. */
export async function readReserved(tx: Tx, sums: readonly WindowSum[]): Promise<bigint[]> {
  if (sums.length === 0) return [];
  const { rows } = await sql<{ reserved: string }>`
    select coalesce(r.reserved, 0) as reserved
    from unnest(${keyLists(sums.map(keyOf))}) with ordinality as v (${KEY}, position)
    left join limit_reserved r on r.project_no = v.project_no and r.subject_type = v.subject_type
      and r.subject_id = v.subject_id and r.rule_no = v.rule_no
    order by v.position
  `.execute(tx);
  return rows.map(({ reserved }) => amountFromText(reserved));
}
