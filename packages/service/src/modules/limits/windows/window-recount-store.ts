import type { LimitMeasure } from '@tollgate/contract';
import { sql } from 'kysely';
import { countOrNone, present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';

/** Identifies a window. */
export interface WindowKey {
  readonly projectId: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly ruleNo: number;
  readonly startS: number;
}

/** A window that usage has opened. */
export interface CountedWindow extends WindowKey {
  readonly tenantId: string;
  readonly endS: number | null;
  /** A decimal. */
  readonly used: string;
  /** When the batch that opened the window was processed, Unix milliseconds. */
  readonly openedAtMs: number;
  readonly measure: LimitMeasure;
  /** The dimension whose values were counted; empty for other measures. */
  readonly of: string;
  /** Whether values of the window are not kept, so that its usage cannot be compared. */
  readonly isPartial: boolean;
  /** The currency of an amount; otherwise empty. */
  readonly currency: string;
}

/** Returns the newest windows, and steps of sliding ones, up to `windowsMax`, and the number of all. */
export async function readCountedWindows(
  tx: Tx,
  windowsMax: number,
): Promise<{ windows: CountedWindow[]; total: number }> {
  const { rows } = await sql<CountedWindow & { total: number }>`
    with newest as (
      select *, count(*) over () as total from (
        select project_no, subject_type, subject_id, rule_no, window_start, window_end, used, opened_at_ms from limit_windows
        union all
        select project_no, subject_type, subject_id, rule_no, step_start, step_end, sum(used), min(opened_at_ms)
        from sliding_steps group by 1, 2, 3, 4, 5, 6
      ) counted
      order by window_start desc, project_no, rule_no, subject_type, subject_id limit ${windowsMax}
    )
    select p.tenant_id as "tenantId", p.id as "projectId", w.subject_type as "subjectType", w.subject_id as "subjectId",
      w.rule_no as "ruleNo", w.window_start as "startS", w.window_end as "endS", w.used::text as used,
      w.opened_at_ms as "openedAtMs", rule.measure, rule.of, rule.currency, coalesce(s.missed, 0) > 0 as "isPartial", w.total
    from newest w
    join projects p on p.no = w.project_no
    join limit_rules rule on rule.no = w.rule_no
    left join window_value_sets s on s.project_no = w.project_no and s.subject_type = w.subject_type
      and s.subject_id = w.subject_id and s.rule_no = w.rule_no and s.window_start = w.window_start
    order by p.id, w.rule_no, w.window_start, w.subject_type, w.subject_id
  `.execute(tx);
  const [first] = rows;
  return { windows: rows.map(({ total: _total, ...window }) => window), total: countOrNone(first?.total) };
}

/** Returns the windows that do not exist. */
export async function absentWindows<Key extends WindowKey>(tx: Tx, keys: readonly Key[]): Promise<Key[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<{ at: number }>`
    select asked.at
    from unnest(
      ${keys.map(({ projectId }) => projectId)}::text[], ${keys.map(({ subjectType }) => subjectType)}::text[],
      ${keys.map(({ subjectId }) => subjectId)}::text[], ${keys.map(({ ruleNo }) => ruleNo)}::integer[],
      ${keys.map(({ startS }) => startS)}::bigint[]
    ) with ordinality as asked (project_id, subject_type, subject_id, rule_no, window_start, at)
    join projects p on p.id = asked.project_id
    left join limit_windows w on w.project_no = p.no and w.subject_type = asked.subject_type
      and w.subject_id = asked.subject_id and w.rule_no = asked.rule_no and w.window_start = asked.window_start
    where w.rule_no is null
    order by asked.at
  `.execute(tx);
  return rows.map(({ at }) => present(keys[at - 1], 'the key of a window'));
}
