import { canonicalLimitPeriod, parseLimitPeriod } from '../../../kernel/period.js';
import type { ProjectTx } from '../../../platform/postgres/index.js';
import type { RuleValues } from './rule-row.js';

/** The fields that identify a rule: when one of them changes, the rule is another one and counts from zero. */
export type RuleIdentity = Pick<RuleValues, 'limit_key' | 'period' | 'measure' | 'currency' | 'of'>;

/**
 * Returns the numbers under which rules accumulate; the same identity always gets the same number. The caller holds the
 * project's revision, so that nobody numbers the same rule meanwhile.
 *
 * @param ownerId of the plan or direct limit
 * @param rules with distinct keys
 */
export async function numberRules(
  tx: ProjectTx,
  ownerId: string,
  rules: readonly RuleIdentity[],
): Promise<number[]> {
  if (rules.length === 0) return [];
  const rows = await tx.rows<{ no: number }>`
    with asked as (
      select * from unnest(
        ${rules.map((rule) => rule.limit_key)}::text[], ${rules.map((rule) => canonicalText(rule.period))}::text[],
        ${rules.map((rule) => rule.measure)}::text[], ${rules.map(countedCurrency)}::text[],
        ${rules.map((rule) => rule.of ?? '')}::text[]
      ) with ordinality as asked (limit_key, period, measure, currency, of, position)
    ), known as (
      select limit_key, period, measure, currency, of, no from limit_rules
      where ${tx.isOwn()} and owner_id = ${ownerId}
    ), added as (
      insert into limit_rules (tenant_id, project_id, owner_id, limit_key, period, measure, currency, of)
      select ${tx.ownValues()}, ${ownerId}, limit_key, period, measure, currency, of from asked
      where (limit_key, period, measure, currency, of) not in (select limit_key, period, measure, currency, of from known)
      returning limit_key, period, measure, currency, of, no
    )
    select no from asked join (select * from known union all select * from added) numbered
      using (limit_key, period, measure, currency, of)
    order by position`;
  return rows.map(({ no }) => no);
}

/** The currency of a quantity is a label: another one is the same rule. */
function countedCurrency({ measure, currency }: RuleIdentity): string {
  return measure === 'amount' ? currency : '';
}

function canonicalText(text: string): string {
  const period = parseLimitPeriod(text);
  if (period === undefined) throw new RangeError(`${text} is no period`);
  return canonicalLimitPeriod(period);
}
