import type { LimitMeasure } from '@tollgate/contract';
import { type RawBuilder, sql } from 'kysely';
import { noteKeys } from '../../../platform/changes/index.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { EVERY_SUBJECT } from '../rules/index.js';
import { subjectNumber } from '../rules/route-rules.js';
import { WHOLE_PERCENT } from './threshold-crossing.js';

/** A new limit for the existing windows of one rule. */
export interface WindowLimitChange {
  readonly projectNo: number;
  /** The subject of the rule's route; the id may be {@link EVERY_SUBJECT}. */
  readonly subjectType: string;
  readonly subjectId: string;
  readonly ruleNo: number;
  readonly measure: LimitMeasure;
  /** A decimal of at most 18 fraction digits. */
  readonly limitAmount: string;
  /** Percentages below 100 at which the rule sends alerts. */
  readonly notifyAt: readonly number[];
  readonly changedAtMs: number;
  /** Whether open windows take the amount too, and not only those that open later. */
  readonly opensNow: boolean;
}

/**
 * Changes the limits of existing windows where `AmountTimeline` says so. An alert that was sent for a window is not
 * sent again; alerts that the usage has passed by now are sent with the next usage. The caller holds the posting lock.
 */
export async function changeWindowLimits(tx: Tx, change: WindowLimitChange): Promise<void> {
  const { projectNo, subjectType, subjectId, ruleNo, limitAmount, notifyAt, changedAtMs, opensNow } = change;
  const noticeAt = noticeOf(change);
  const limit = sql<string>`${limitAmount}::numeric`;
  const percents = [...notifyAt, WHOLE_PERCENT];
  const opensHere = (window: Columns) => sql`(${window.start} * 1000 >= ${changedAtMs}
    or ${opensNow} and (${window.end} is null or ${window.end} * 1000 > ${changedAtMs}))`;
  const nextNotice = (window: Columns) => sql`(
    select min(${noticeAt(limit)}) from unnest(${percents}::integer[]) as p (percent)
    where ${noticeAt(window.limit)} >= ${window.notice})`;
  const ofRoute = sql`w.project_no = ${projectNo} and w.subject_type = ${subjectType}
    and (${subjectId === EVERY_SUBJECT} or w.subject_id = ${subjectId})`;
  const current = await sql<{ id: string }>`
    update current_windows w
    set limit_amounts[${placeOf(ruleNo)}] = ${limit}, next_notices[${placeOf(ruleNo)}] = ${nextNotice(currentOf(ruleNo))}
    where ${ofRoute} and ${ruleNo}::integer = any (w.rule_nos) and ${opensHere(currentOf(ruleNo))}
    returning subject_id as id
  `.execute(tx);
  const past = await sql<{ id: string }>`
    update past_windows w set limit_amount = ${limit}, next_notice = ${nextNotice(PAST)}
    where ${ofRoute} and w.rule_no = ${ruleNo} and ${opensHere(PAST)}
    returning subject_id as id
  `.execute(tx);
  const changed = [...current.rows, ...past.rows];
  await noteKeys(
    tx,
    changed.map(({ id }) => subjectNumber(projectNo, { type: subjectType, id })),
  );
}

/** The fields of a window, as columns or as elements of lists. */
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

/** The position of a rule in the lists of a subject. */
const placeOf = (ruleNo: number) => sql`array_position(w.rule_nos, ${ruleNo}::integer)`;

const currentOf = (ruleNo: number): Columns => ({
  start: sql`w.window_starts[${placeOf(ruleNo)}]`,
  end: sql`w.window_ends[${placeOf(ruleNo)}]`,
  limit: sql`w.limit_amounts[${placeOf(ruleNo)}]`,
  notice: sql`w.next_notices[${placeOf(ruleNo)}]`,
});

/**
 * As in `threshold-crossing.ts`: a percentage of a limit, rounded up to 18 fraction digits, or the next amount above
 * the limit of a greatest quantity. Only multiplication is used, because it is exact for numbers of any size.
 */
const noticeOf =
  ({ measure }: WindowLimitChange) =>
  (limit: RawBuilder<unknown>) =>
    sql`(ceil(${limit} * p.percent * 10000000000000000)
      + (${measure === 'max'} and p.percent = ${WHOLE_PERCENT})::integer) * 0.000000000000000001`;
