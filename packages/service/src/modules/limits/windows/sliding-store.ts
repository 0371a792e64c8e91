import { type RawBuilder, sql } from 'kysely';
import { present } from '../../../kernel/present.js';
import { arrayLiteral, isNotMoving, type Tx } from '../../../platform/postgres/index.js';
import { amountFromText, numericText } from '../../ledger/index.js';
import type { PostingScope } from '../posting/rated-usage.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import { PAST_KEY, pastKeyLists, type UsageWindowKey } from './store.js';

/** The sliding window of a rule and subject. */
export type SlidingKey = Pick<UsageWindowKey, 'usage' | 'ruleNo'>;

/** Usage × 10^18 of a step of a sliding window, and when it counts. Unix seconds; ends are exclusive. */
export interface SlidingStep extends SlidingKey {
  readonly startS: number;
  readonly endS: number;
  readonly countsFromS: number;
  readonly countsUntilS: number;
  readonly used: bigint;
}

/** Returns up to `max` windows of any project that have steps which do not count any more. */
export async function readEndedSteps(tx: Tx, nowS: number, max: number): Promise<SlidingKey[]> {
  const { rows } = await sql<EndedRow>`
    with ended as (
      select s.project_no, s.subject_type, s.subject_id, s.rule_no, p.tenant_id, p.id as project_id
      from sliding_steps s join projects p on p.no = s.project_no
      where s.counts_until <= ${nowS}::bigint and ${isNotMoving('p.tenant_id')}
      order by s.counts_until limit ${max}
    )
    select distinct project_no as "projectNo", tenant_id as "tenantId", project_id as "projectId",
      subject_type as type, subject_id as id, rule_no as "ruleNo"
    from ended
  `.execute(tx);
  return rows.map(({ projectNo, tenantId, projectId, type, id, ruleNo }) => ({
    usage: { scope: { tenantId, projectId, projectNo }, subject: { type, id } },
    ruleNo,
  }));
}

interface EndedRow extends PostingScope, LimitedSubject {
  readonly ruleNo: number;
}

/**
 * Returns the usage × 10^18 of windows at an instant, in their order. The sum hides `counts_until` from the planner,
 * which could otherwise read the steps of all tenants by the index of that column.
 */
export async function readSlidingUse(tx: Tx, windows: readonly SlidingKey[], atS: number): Promise<bigint[]> {
  const { rows } = await sql<{ used: string }>`
    select coalesce(sum(s.used), 0)::text as used
    from ${named(windows)} left join sliding_steps s
      on ${hasBegun(atS)} and s.counts_from <= ${atS}::bigint
      and s.counts_until + 0 > ${atS}::bigint
    group by v.position order by v.position
  `.execute(tx);
  return windows.map((_, index) =>
    amountFromText(present(rows[index], 'the usage of a sliding window').used),
  );
}

/**
 * Deletes the steps of windows that do not count any more, and adds usage whose time has come to that of its step, with
 * two statements. So a window has one row for each step, besides those for usage that is ahead.
 */
export async function settleSteps(tx: Tx, windows: readonly SlidingKey[], nowS: number): Promise<void> {
  await sql`
    delete from sliding_steps s using ${named(windows)} where ${hasBegun(nowS)} and s.counts_until <= ${nowS}::bigint
  `.execute(tx);
  await sql`
    with due as (
      delete from sliding_steps s using ${named(windows)}
      where ${hasBegun(nowS)} and s.counts_from > s.step_start and s.counts_from <= ${nowS}::bigint
      returning s.*
    )
    insert into sliding_steps as s (${STEP_COLUMNS}, counts_from)
    select project_no, subject_type, subject_id, rule_no, step_start, step_end, counts_until, sum(used), min(opened_at_ms),
      step_start
    from due group by 1, 2, 3, 4, 5, 6, 7
    on conflict (${STEP_KEY}) do update set used = s.used + excluded.used
  `.execute(tx);
}

/** Adds usage to steps. Steps that do not count any more are not created. A step may occur only once in the list. */
export async function addToSteps(
  tx: Tx,
  steps: readonly SlidingStep[],
  { nowMs, nowS }: { readonly nowMs: number; readonly nowS: number },
): Promise<void> {
  const added = steps.filter(({ countsUntilS }) => countsUntilS > nowS);
  if (added.length === 0) return;
  const column = (of: (step: SlidingStep) => number | string) => sql`${arrayLiteral(added, of)}`;
  await sql`
    insert into sliding_steps as s (${STEP_COLUMNS}, counts_from)
    select project_no, subject_type, subject_id, rule_no, window_start, step_end, counts_until, used, ${nowMs}::bigint,
      counts_from
    from unnest(${pastKeyLists(added)}, ${column(({ endS }) => endS)}::bigint[],
      ${column(({ countsUntilS }) => countsUntilS)}::bigint[], ${column(({ used }) => numericText(used))}::numeric[],
      ${column(({ countsFromS }) => countsFromS)}::bigint[]
    ) as v (${PAST_KEY}, step_end, counts_until, used, counts_from)
    on conflict (${STEP_KEY}) do update set used = s.used + excluded.used
  `.execute(tx);
}

const STEP_KEY = sql`project_no, subject_type, subject_id, rule_no, step_start, counts_from`;
const STEP_COLUMNS = sql`project_no, subject_type, subject_id, rule_no, step_start, step_end, counts_until, used, opened_at_ms`;
/** Whether a step is of a window of `v`, and has begun. Steps that are ahead may be very many: they are not read. */
function hasBegun(atS: number): RawBuilder<unknown> {
  return sql`s.project_no = v.project_no and s.subject_type = v.subject_type and s.subject_id = v.subject_id
    and s.rule_no = v.rule_no and s.step_start <= ${atS}::bigint`;
}

/** Returns the table `v`: windows, with their positions from 1 on. */
function named(windows: readonly SlidingKey[]): RawBuilder<unknown> {
  const keys = windows.map(({ usage, ruleNo }) => ({ usage, ruleNo, startS: 0 }));
  return sql`unnest(${pastKeyLists(keys)}) with ordinality as v (${PAST_KEY}, position)`;
}
