import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import { EVERY_SUBJECT } from '../book/index.js';
import { WHOLE_PERCENT } from './crossing.js';

/** Another amount for windows of one rule that may exist already. */
export interface WindowLimitChange {
  readonly projectNo: number;
  /** Of the rule's route: its id may be {@link EVERY_SUBJECT}. */
  readonly subjectType: string;
  readonly subjectId: string;
  readonly ruleNo: number;
  /** A decimal of at most 18 fraction digits. */
  readonly limitAmount: string;
  /** Shares that the rule tells besides the whole, in percent. */
  readonly notifyAt: readonly number[];
  readonly changedAtMs: number;
  /** Whether windows that are open take the amount too, and not only those that usage of the future has opened. */
  readonly opensNow: boolean;
}

/**
 * Gives windows that exist another limit, where `AmountTimeline` says that they have it. A share that has been told in a window is
 * not told there again; what the usage has passed by now is told with the next usage. Needs the posting lock.
 */
export async function changeWindowLimits(tx: Tx, change: WindowLimitChange): Promise<void> {
  const { projectNo, subjectType, subjectId, ruleNo, limitAmount, notifyAt, changedAtMs, opensNow } = change;
  const limit = sql<string>`${limitAmount}::numeric`;
  const percents = [...notifyAt, WHOLE_PERCENT];
  await sql`
    update limit_windows w set limit_amount = ${limit}, next_notice = (
      select min(${noticeAt(limit)}) from unnest(${percents}::integer[]) as p (percent)
      where ${noticeAt(sql`w.limit_amount`)} >= w.next_notice
    )
    where w.project_no = ${projectNo} and w.subject_type = ${subjectType}
      and (${subjectId === EVERY_SUBJECT} or w.subject_id = ${subjectId}) and w.rule_no = ${ruleNo}
      and (w.window_start * 1000 >= ${changedAtMs}
        or ${opensNow} and (w.window_end is null or w.window_end * 1000 > ${changedAtMs}))
  `.execute(tx);
}

/** As in `crossing.ts`: a share of a limit, rounded up to 18 fraction digits. Multiplication alone is exact in any size. */
const noticeAt = (limit: RawBuilder<unknown>) =>
  sql`ceil(${limit} * p.percent * 10000000000000000) * 0.000000000000000001`;
