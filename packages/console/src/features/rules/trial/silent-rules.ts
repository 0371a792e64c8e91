import type { ChargeItemExtractor, PricingRule, UsageChargeItem } from '@tollgate/contract';

/** A rule that gave nothing to an event, and why. */
export interface SilentRule {
  readonly name: string;
  readonly reason: string;
}

/** Charge item extractors of a tried body that made no charge item. */
export function silentExtractors(body: unknown, items: readonly UsageChargeItem[]): SilentRule[] {
  const made = new Set(items.flatMap(({ extractor_name }) => extractor_name ?? []));
  const sent = new Set(items.filter(({ source }) => source === 'x_billing').map(({ metric }) => metric));
  return entriesOf<ChargeItemExtractor>(body, 'charge_item_extractors').flatMap((entry) => {
    const { name, metric, path, sum_paths: sumPaths = [] } = entry;
    const shown = name ?? metric;
    if (sent.has(metric))
      return [{ name: shown, reason: `x-billing of the event has an item of ${metric}, which goes first` }];
    if (made.has(shown)) return [];
    return [{ name: shown, reason: `${[path ?? [], sumPaths].flat().join(', ')} is missing in the event` }];
  });
}

/** Pricing rules of a tried body that priced no charge item, in the order in which they are asked. */
export function silentPricingRules(body: unknown, items: readonly UsageChargeItem[]): SilentRule[] {
  const rules = entriesOf<PricingRule>(body, 'rules').toSorted(
    (a, b) => (a.priority ?? 0) - (b.priority ?? 0),
  );
  const names = ruleNames(rules);
  const priced = items.filter(({ pricing_source }) => pricing_source === 'pricing_rule_set');
  const used = new Set(priced.flatMap(({ rule_name }) => rule_name ?? []));
  return rules.flatMap((rule, position) => {
    const name = names[position] ?? rule.metric;
    if (used.has(name)) return [];
    return [{ name, reason: reasonOf(rule, position, { items, names }) }];
  });
}

function reasonOf(
  { metric, match_expr }: PricingRule,
  position: number,
  { items, names }: { readonly items: readonly UsageChargeItem[]; readonly names: readonly string[] },
): string {
  const ofMetric = items.filter((item) => item.metric === metric);
  if (ofMetric.length === 0) return `the event has no charge item of ${metric}`;
  const asked = ofMetric.filter(
    ({ pricing_source }) => pricing_source === 'pricing_rule_set' || pricing_source === 'unpriced',
  );
  if (asked.length === 0) {
    return ofMetric.some(({ pricing_source }) => pricing_source === 'hint')
      ? 'a price in the event goes first'
      : 'a price of the extractor goes first';
  }
  // Unpriced items, and those that a later rule priced, have asked this one.
  const refused = asked.some(({ rule_name }) => rule_name === null || names.indexOf(rule_name) > position);
  if (refused) return match_expr === undefined ? 'does not apply' : `not true: ${match_expr}`;
  return `not asked: ${asked[0]?.rule_name} comes before it and matches`;
}

/**
 * The names under which charge items record their rules: their own, or the metric, or the place where that is
 * not enough.
 */
function ruleNames(rules: readonly PricingRule[]): string[] {
  const wanted = rules.map(({ name, metric }) => name ?? metric);
  return rules.map(({ name, metric }, position) => {
    if (name !== undefined) return name;
    return wanted.filter((each) => each === metric).length === 1 ? metric : `rules[${position}]`;
  });
}

/** The entries of a list in a body that the service has accepted, and therefore has checked. */
function entriesOf<Entry>(body: unknown, field: string): readonly Entry[] {
  if (typeof body !== 'object' || body === null) return [];
  const list = (body as Readonly<Record<string, unknown>>)[field];
  return Array.isArray(list) ? (list as Entry[]) : [];
}
