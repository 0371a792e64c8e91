import type { PricingRule } from '@tollgate/contract';

/**
 * The rule name that charge items record: the rule's own name, without one its metric or, if several rules share it,
 * its index, such as `rules[3]`.
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
