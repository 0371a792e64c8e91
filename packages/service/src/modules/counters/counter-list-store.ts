import type { CounterListQuery } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectDb } from '../../platform/postgres/index.js';

/** A period of a counter as it is stored. */
export interface StoredCounter {
  readonly counter: string;
  readonly ruleSetId: string;
  /** Empty unless the counter is one of a subject. */
  readonly subjectType: string;
  readonly subjectId: string;
  /** Empty unless the counter is one of an account. */
  readonly accountId: string;
  readonly by: Record<string, string | null>;
  readonly periodStart: number;
  readonly periodEnd: number | null;
  readonly quantity: string;
  readonly amount: string;
  readonly currency: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

const FILTERS = ['counter', 'rule_set_id', 'subject_type', 'subject_id', 'account_id'] as const;

const COUNTERS = sql`usage_counters c join projects p on p.tenant_id = c.tenant_id and p.id = c.project_id
  join usage_counter_totals t on t.project_no = p.no and t.id = c.totals_id`;

/** Returns the counters whose period contains a time. Without a filter of owner or rule set, all of the project. */
export async function listCounters(
  db: ProjectDb,
  filter: Pick<CounterListQuery, (typeof FILTERS)[number]>,
  atS: number,
  { limit, offset }: Page,
): Promise<ListPage<StoredCounter>> {
  const conditions = FILTERS.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [sql`${sql.ref(name)} = ${value}`];
  });
  const isInPeriod = sql`t.item_count > 0 and period_start <= ${atS} and (period_end is null or period_end > ${atS})`;
  const isFound = sql.join([isInPeriod, ...conditions], sql` and `);
  const items = await db.rows<StoredCounter>`
    select counter, rule_set_id as "ruleSetId", subject_type as "subjectType", subject_id as "subjectId",
      account_id as "accountId", by_dimensions as by, period_start as "periodStart", period_end as "periodEnd",
      quantity::text, amount::text, currency, rule_set_version as "ruleSetVersion", rule_name as "ruleName"
    from ${COUNTERS} where ${db.isOwn('c')} and ${isFound}
    order by rule_set_id, counter, period_start, key limit ${limit} offset ${offset}`;
  const count = await db.row<{ count: number }>`
    select count(*) as count from ${COUNTERS} where ${db.isOwn('c')} and ${isFound}`;
  return { items, totalCount: count?.count ?? 0 };
}
