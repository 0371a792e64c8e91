import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import { EVERY_SUBJECT } from '../rules/index.js';
import { WHOLE_PERCENT } from './threshold-crossing.js';

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
 * Gives windows that exist another limit, where `AmountTimeline` says that they have it. An alert that was
 * sent in a window is not sent there again; those that the usage has passed by now are sent with the next
 * usage. Needs the posting lock.
 */
export async function changeWindowLimits(tx: Tx, change: WindowLimitChange): Promise<void> {
  const { projectNo, subjectType, subjectId, ruleNo, limitAmount, notifyAt, changedAtMs, opensNow } = change;
  const limit = sql<string>`${limitAmount}::numeric`;
  const percents = [...notifyAt, WHOLE_PERCENT];
  const opensHere = (window: Columns) => sql`(${window.start} * 1000 >= ${changedAtMs}
    or ${opensNow} and (${window.end} is null or ${window.end} * 1000 > ${changedAtMs}))`;
  const nextNotice = (window: Columns) => sql`(
    select min(${noticeAt(limit)}) from unnest(${percents}::integer[]) as p (percent)
    where ${noticeAt(window.limit)} >= ${window.notice})`;
  const ofRoute = sql`w.project_no = ${projectNo} and w.subject_type = ${subjectType}
    and (${subjectId === EVERY_SUBJECT} or w.subject_id = ${subjectId})`;
  await sql`
    update current_windows w
    set limit_amounts[${placeOf(ruleNo)}] = ${limit}, next_notices[${placeOf(ruleNo)}] = ${nextNotice(currentOf(ruleNo))}
    where ${ofRoute} and ${ruleNo}::integer = any (w.rule_nos) and ${opensHere(currentOf(ruleNo))}
  `.execute(tx);
  await sql`
    update past_windows w set limit_amount = ${limit}, next_notice = ${nextNotice(PAST)}
    where ${ofRoute} and w.rule_no = ${ruleNo} and ${opensHere(PAST)}
  `.execute(tx);
}

/** What a window says, as columns or as elements of lists. */
interface Columns {
  readonly start: RawBuilder<unknown>;
  readonly end: RawBuilder<unknown>;
  readonly limit: RawBuilder<unknown>;
  readonly notice: RawBuilder<unknown>;
}

const PAST: Columns = {
  start: sql`w.window_start`,
  end: sql`w.window_end`,
  limit: sql`w.limit_amount`,
  notice: sql`w.next_notice`,
};

/** Where the lists of a subject tell of a rule. */
const placeOf = (ruleNo: number) => sql`array_position(w.rule_nos, ${ruleNo}::integer)`;

const currentOf = (ruleNo: number): Columns => ({
  start: sql`w.window_starts[${placeOf(ruleNo)}]`,
  end: sql`w.window_ends[${placeOf(ruleNo)}]`,
  limit: sql`w.limit_amounts[${placeOf(ruleNo)}]`,
  notice: sql`w.next_notices[${placeOf(ruleNo)}]`,
});

/**
 * As in `crossing.ts`: a share of a limit, rounded up to 18 fraction digits. Multiplication alone is exact in
 * any size.
 */
const noticeAt = (limit: RawBuilder<unknown>) =>
  sql`ceil(${limit} * p.percent * 10000000000000000) * 0.000000000000000001`;
