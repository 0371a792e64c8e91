import type { CounterAggregate, CounterScope } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Tx } from '../../platform/postgres/index.js';
import { keepsValues } from '../counters/index.js';

/** A counter of the published versions of a rule set. */
export interface DefinedCounterRow {
  readonly tenantId: string;
  readonly projectId: string;
  readonly ruleSetId: string;
  readonly counter: string;
  readonly definition: {
    readonly per: CounterScope;
    readonly by: readonly string[];
    readonly aggregate: CounterAggregate;
    readonly of?: string;
  };
}

/** A period of a counter. Decimals are texts. */
export interface CounterSums {
  /** Empty unless the counter is one of a subject. */
  readonly subjectType: string;
  readonly subjectId: string;
  /** Empty unless the counter is one of an account. */
  readonly accountId: string;
  /** The values of the dimensions `by`, in their order; null for an absent one. */
  readonly by: readonly (string | null)[];
  readonly periodStart: number;
  readonly quantity: string;
  readonly amount: string;
  readonly itemCount: string;
  /** The number of different values that a counter of distinct values or of the greatest one keeps. */
  readonly valueCount: string;
  /** Sum over these values: the first 60 bits of the SHA-256 of a value × how many charge items have it. */
  readonly values: string;
}

export async function readDefinedCounters(tx: Tx): Promise<DefinedCounterRow[]> {
  const { rows } = await sql<DefinedCounterRow>`
    select tenant_id as "tenantId", project_id as "projectId", rule_set_id as "ruleSetId", counter,
      definition::jsonb as definition
    from rule_set_counters order by project_id, rule_set_id, counter
  `.execute(tx);
  return rows;
}

const VALUES = sql`(
  select coalesce(sum(item_count * (
    'x' || left(encode(sha256(convert_to(value, 'UTF8')), 'hex'), 15))::bit(60)::bigint::numeric), 0)::text
  from usage_counter_values v
  where v.project_id = c.project_id and v.key = c.key and v.period_start = c.period_start)`;

/** A period whose totals are lost is none: it is missing then. */
const COUNTERS = sql`usage_counters c join projects p on p.tenant_id = c.tenant_id and p.id = c.project_id
  join usage_counter_totals t on t.project_no = p.no and t.id = c.totals_id`;

/** Returns the newest periods of a counter, at most `limit`, and how many there are. */
export async function readCounterPeriods(
  tx: Tx,
  { projectId, ruleSetId, counter, definition }: DefinedCounterRow,
  limit: number,
): Promise<{ readonly periods: CounterSums[]; readonly total: number }> {
  const isOfCounter = sql`c.project_id = ${projectId} and rule_set_id = ${ruleSetId} and counter = ${counter}`;
  const { rows } = await sql<Omit<CounterSums, 'by'> & { readonly by: Record<string, string | null> }>`
    select subject_type as "subjectType", subject_id as "subjectId", account_id as "accountId", by_dimensions as by,
      period_start as "periodStart", quantity::text, amount::text, t.item_count::text as "itemCount",
      value_count::text as "valueCount", ${keepsValues(definition) ? VALUES : sql`'0'`} as values
    from ${COUNTERS} where ${isOfCounter} order by period_start desc, key limit ${limit}
  `.execute(tx);
  const counted = await sql<{ total: number }>`
    select count(*) as total from ${COUNTERS} where ${isOfCounter}`.execute(tx);
  const periods = rows.map(({ by, ...row }) => ({
    ...row,
    by: definition.by.map((name) => by[name] ?? null),
  }));
  return { periods, total: counted.rows[0]?.total ?? 0 };
}
