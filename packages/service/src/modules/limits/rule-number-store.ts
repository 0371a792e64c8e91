import { sql } from 'kysely';
import { canonicalPeriod, parsePeriod } from '../../kernel/period.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { LimitOwner } from './owner.js';

/**
 * The numbers under which rules of a plan, or a direct limit, accumulate: for one key and period the same for good. The project's
 * revision must be held, so that nobody numbers the same rule meanwhile.
 *
 * @param ownerId of the plan or direct limit
 * @param rules no two with one key
 */
export async function numberRules(
  tx: Tx,
  { tenantId, projectId }: LimitOwner,
  ownerId: string,
  rules: readonly { readonly limit_key: string; readonly period: string }[],
): Promise<number[]> {
  if (rules.length === 0) return [];
  const { rows } = await sql<{ no: number }>`
    with asked as (
      select * from unnest(
        ${rules.map((rule) => rule.limit_key)}::text[], ${rules.map((rule) => canonicalText(rule.period))}::text[]
      ) with ordinality as asked (limit_key, period, position)
    ), known as (
      select limit_key, period, no from limit_rules where project_id = ${projectId} and owner_id = ${ownerId}
    ), added as (
      insert into limit_rules (tenant_id, project_id, owner_id, limit_key, period)
      select ${tenantId}, ${projectId}, ${ownerId}, limit_key, period from asked
      where (limit_key, period) not in (select limit_key, period from known)
      returning limit_key, period, no
    )
    select no from asked join (select * from known union all select * from added) numbered using (limit_key, period)
    order by position
  `.execute(tx);
  return rows.map(({ no }) => no);
}

function canonicalText(text: string): string {
  const period = parsePeriod(text);
  if (period === undefined) throw new RangeError(`${text} is no period`);
  return canonicalPeriod(period);
}
