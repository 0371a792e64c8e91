import type { ChargeItemExtractor, PricingRule, UsageChargeItem } from '@tollgate/contract';

/** A rule that was not used for an event, and the reason. */
export interface UnusedRule {
  readonly name: string;
  readonly reason: string;
}

/** The charge item extractors of a tested body that extracted no charge item. */
export function unusedExtractors(body: unknown, items: readonly UsageChargeItem[]): UnusedRule[] {
  const made = new Set(items.flatMap(({ extractor_name }) => extractor_name ?? []));
  const sent = new Set(items.filter(({ source }) => source === 'x_billing').map(({ metric }) => metric));
  return entriesOf<ChargeItemExtractor>(body, 'charge_item_extractors').flatMap((entry) => {
    const { name, metric, path, sum_paths: sumPaths = [] } = entry;
    const shown = name ?? metric;
    if (sent.has(metric))
      return [{ name: shown, reason: `x-billing has an item for ${metric}, which takes precedence` }];
    if (made.has(shown)) return [];
    return [{ name: shown, reason: `${[path ?? [], sumPaths].flat().join(', ')} is missing` }];
  });
}

/** The rules of a tested body that gave no charge item a price or cost, in the order in which they are tried. */
export function unusedPricingRules(body: unknown, items: readonly UsageChargeItem[]): UnusedRule[] {
  return isOfCosts(body) ? unusedRules(body, items.map(asCosted)) : unusedRules(body, items);
}

/** Shows the rule of its cost as the rule of an item: cost rules are tried for every item. */
function asCosted(item: UsageChargeItem): UsageChargeItem {
  const rule = item.cost?.rule ?? null;
  return { ...item, pricing_source: rule === null ? 'unpriced' : 'pricing_rule_set', rule_name: rule };
}

function isOfCosts(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'purpose' in body && body.purpose === 'cost';
}

function unusedRules(body: unknown, items: readonly UsageChargeItem[]): UnusedRule[] {
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
  if (ofMetric.length === 0) return `the event has no charge item for ${metric}`;
  const tried = ofMetric.filter(
    ({ pricing_source }) => pricing_source === 'pricing_rule_set' || pricing_source === 'unpriced',
  );
  if (tried.length === 0) {
    return ofMetric.some(({ pricing_source }) => pricing_source === 'hint')
      ? 'a price in the event takes precedence'
      : 'a price in the extractor takes precedence';
  }
  // This rule was tried for unpriced items and for items that a later rule priced.
  const isFalse = tried.some(({ rule_name }) => rule_name === null || names.indexOf(rule_name) > position);
  if (isFalse) return match_expr === undefined ? 'does not apply' : `condition is false: ${match_expr}`;
  return `not tried: ${tried[0]?.rule_name} matches first`;
}

/**
 * The names by which charge items refer to rules: the rule's name, otherwise its metric or, if that is not unique,
 * its position.
 */
function ruleNames(rules: readonly PricingRule[]): string[] {
  const wanted = rules.map(({ name, metric }) => name ?? metric);
  return rules.map(({ name, metric }, position) => {
    if (name !== undefined) return name;
    return wanted.filter((each) => each === metric).length === 1 ? metric : `rules[${position}]`;
  });
}

/** The entries of a list in a body, which the service has validated. */
function entriesOf<Entry>(body: unknown, field: string): readonly Entry[] {
  if (typeof body !== 'object' || body === null) return [];
  const list = (body as Readonly<Record<string, unknown>>)[field];
  return Array.isArray(list) ? (list as Entry[]) : [];
}
