import type { PricingRule } from '@tollgate/contract';

/**
 * What charge items record as the name of the rule that priced them: the name that was given, without one the metric or,
 * where several rules have that, its place, e.g. `rules[3]`.
 */
export function pricingRuleNames(rules: readonly Pick<PricingRule, 'name' | 'metric'>[]): string[] {
  const uses = new Map<string, number>();
  for (const { name, metric } of rules) {
    const wanted = name ?? metric;
    uses.set(wanted, (uses.get(wanted) ?? 0) + 1);
  }
  return rules.map(({ name, metric }, position) => {
    return name ?? (uses.get(metric) === 1 ? metric : `rules[${position}]`);
  });
}
