import { sql } from 'kysely';
import type { TimeWindow } from '../../../kernel/period.js';
import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { PAST_KEY, pastKeyLists, windowKeyOf } from './store.js';
import type { WindowSum } from './subject-usage.js';

/**
 * Returns the past windows of `first_use` rules that contain the start of the sums. Windows of a rule do not overlap,
 * so only the newest that begins before it can.
 */
export async function pastWindowsAt(
  tx: Tx,
  sums: readonly WindowSum[],
): Promise<ReadonlyMap<WindowSum, TimeWindow>> {
  if (sums.length === 0) return new Map();
  const { rows } = await sql<{ position: number; startS: number; endS: number }>`
    select v.position, w.window_start as "startS", w.window_end as "endS"
    from unnest(${pastKeyLists(sums.map(windowKeyOf))}) with ordinality as v (${PAST_KEY}, position)
    cross join lateral (
      select w.window_start, w.window_end from past_windows w
      where ${IS_OF_RULE} and w.window_start <= v.window_start
      order by w.window_start desc limit 1
    ) w
    where w.window_end > v.window_start
  `.execute(tx);
  return new Map(
    rows.map(({ position, startS, endS }) => [present(sums[position - 1], 'late usage'), { startS, endS }]),
  );
}

/** The past windows of a rule beside an instant. */
export interface PastWindowsBeside {
  /** The newest that begins by then. */
  readonly last: TimeWindow | undefined;
  /** When the first that begins later begins. */
  readonly nextS: number | undefined;
}

/** Returns the past windows of `first_use` rules beside an instant (Unix seconds), for each of the sums. */
export async function pastWindowsBeside(
  tx: Tx,
  asked: readonly { readonly sum: WindowSum; readonly atS: number }[],
): Promise<ReadonlyMap<WindowSum, PastWindowsBeside>> {
  if (asked.length === 0) return new Map();
  const keys = asked.map(({ sum, atS }) => ({ ...windowKeyOf(sum), startS: atS }));
  const { rows } = await sql<{
    position: number;
    startS: number | null;
    endS: number | null;
    nextS: number | null;
  }>`
    select v.position, l.window_start as "startS", l.window_end as "endS", n.window_start as "nextS"
    from unnest(${pastKeyLists(keys)}) with ordinality as v (${PAST_KEY}, position)
    left join lateral (
      select w.window_start, w.window_end from past_windows w where ${IS_OF_RULE} and w.window_start <= v.window_start
      order by w.window_start desc limit 1
    ) l on true
    left join lateral (
      select w.window_start from past_windows w where ${IS_OF_RULE} and w.window_start > v.window_start
      order by w.window_start limit 1
    ) n on true
  `.execute(tx);
  return new Map(
    rows.map(({ position, startS, endS, nextS }) => {
      const { sum } = present(asked[position - 1], 'usage before a window of the future');
      const last = startS === null || endS === null ? undefined : { startS, endS };
      return [sum, { last, nextS: nextS ?? undefined }];
    }),
  );
}

const IS_OF_RULE = sql`w.project_no = v.project_no and w.subject_type = v.subject_type
  and w.subject_id = v.subject_id and w.rule_no = v.rule_no`;
