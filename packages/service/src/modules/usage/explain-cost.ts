import {
  type ChargeItemCost,
  type ExplainedCost,
  PRICING_PRIORITY_DEFAULT,
  type PricingConfig,
} from '@tollgate/contract';
import {
  type AnswerRule,
  expressionsOf,
  type ItemForRules,
  NO_ANSWER,
  NO_EXPRESSIONS,
  ruleNamed,
} from './explain-rule.js';

/** The version of a cost rule set that gave a charge item its cost. */
interface CostedBy {
  readonly config: PricingConfig | undefined;
  readonly answerRule: AnswerRule;
}

/** Explains the cost of a charge item. */
export function explainCost(
  { amount: value, currency, pricing_rule_set_id, version, rule: name }: ChargeItemCost,
  item: ItemForRules,
  { config, answerRule }: CostedBy,
): ExplainedCost {
  const rule = config && ruleNamed(config, name, item.metric);
  const { unitPrice, pricingUnit, amount } = rule === undefined ? NO_EXPRESSIONS : expressionsOf(rule);
  const { aliases: all = [] } = config ?? {};
  const { match_expr: match } = rule ?? {};
  const { aliases } =
    match === undefined || all.length === 0
      ? NO_ANSWER
      : answerRule({ config: { aliases: all }, rule: { metric: item.metric, match_expr: match }, item });
  return {
    value,
    currency,
    expression: amount,
    unit_price_expression: unitPrice,
    pricing_unit: pricingUnit,
    pricing_rule_set_id,
    version,
    rule: name,
    match_expr: rule?.match_expr ?? null,
    priority: rule === undefined ? null : (rule.priority ?? PRICING_PRIORITY_DEFAULT),
    aliases: [...aliases],
  };
}
