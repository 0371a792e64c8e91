import {
  type ChargeItemCost,
  type ChargeItemExtractor,
  type ExtractorConfig,
  PRICING_PRIORITY_DEFAULT,
  type PricingConfig,
  type PricingRule,
  type UnpricedItem,
  type UsageChargeItem,
  type UsageEvent,
  type UsageExplanation,
  type UsageItemExplanation,
} from '@tollgate/contract';
import { add, type Decimal, decimalFromBigInt, parseDecimal, sub, toText } from '../../kernel/decimal.js';
import { decimalFromJson, type NumericText } from '../../kernel/json/json.js';
import type { StoredInput } from './event-store.js';
import { explainCost } from './explain-cost.js';
import {
  type AnswerRule,
  expressionsOf,
  NO_ANSWER,
  NO_EXPRESSIONS,
  type RecordedEvent,
  type RuleAnswer,
  type RuleQuestion,
  recordedItem,
  ruleNamed,
} from './explain-rule.js';

/** The version of an extractor rule set that read an event. */
export interface ExtractorText {
  readonly name: string | null;
  readonly config: ExtractorConfig;
}

/**
 * Returns the answers to questions about one event, in the order of the questions. It compiles expressions, so it may
 * use another thread.
 */
export type AnswerRules = (
  project: { readonly tenantId: string; readonly projectId: string },
  questions: readonly RuleQuestion[],
) => Promise<readonly RuleAnswer[]>;

/** Explains why charge items of an event have no price; implemented by the trial module, as in a test of rules. */
export type FindUnpriced = (
  project: { readonly tenantId: string; readonly projectId: string },
  stored: StoredInput,
  extractor: ExtractorConfig,
) => Promise<readonly UnpricedItem[]>;

/** The rules that rated an event, as they were written. */
export interface RatedBy {
  /** Undefined when the event failed before a version was found. */
  readonly extractor: ExtractorText | undefined;
  /** A version of a pricing rule set that gave one of its charge items a price or a cost. */
  pricing(ruleSetId: string | null, version: number | null): PricingConfig | undefined;
  readonly answerRule: AnswerRule;
  /** The event's `x-billing`, parsed without losing a digit. */
  readonly billing: unknown;
}

const ONE = decimalFromBigInt(1n);

/** Explains each number of an event. */
export function explainEvent(event: UsageEvent, ratedBy: RatedBy): UsageExplanation {
  return {
    extractor: {
      rule_set_id: event.extractor_rule_set_id,
      version: event.extractor_version,
      name: ratedBy.extractor?.name ?? null,
    },
    charge_items: event.charge_items.map((item) => explainItem(item, event, ratedBy)),
  };
}

/** Like `explainEvent`, but asks all questions at once. */
export async function explainEventWith(
  event: UsageEvent,
  ratedBy: Omit<RatedBy, 'answerRule'>,
  answer: (questions: readonly RuleQuestion[]) => Promise<readonly RuleAnswer[]>,
): Promise<UsageExplanation> {
  const questions: RuleQuestion[] = [];
  const ask: AnswerRule = (question) => {
    questions.push(question);
    return NO_ANSWER;
  };
  const explained = explainEvent(event, { ...ratedBy, answerRule: ask });
  if (questions.length === 0) return explained;
  const answers = (await answer(questions)).values();
  return explainEvent(event, { ...ratedBy, answerRule: () => answers.next().value ?? NO_ANSWER });
}

/** Explains the numbers of one charge item. */
export function explainItem(
  item: UsageChargeItem,
  event: RecordedEvent,
  ratedBy: RatedBy,
): UsageItemExplanation {
  const entry = extractorOf(item, ratedBy.extractor?.config);
  const reader = item.source === 'extractor' ? entry : undefined;
  const config = pricingOf(item, ratedBy);
  const rule = config && ruleNamed(config, item.rule_name, item.metric);
  const pricing = item.pricing_source === 'extractor' ? entry : rule;
  const expressions = pricing === undefined ? NO_EXPRESSIONS : expressionsOf(pricing);
  const { aliases, totalPrice } = answerOn(item, pricing, event, ratedBy);
  const beforeDiscount = add(decimal(item.amount), decimal(item.discount));
  return {
    metric: item.metric,
    quantity: {
      value: item.quantity,
      source: item.source,
      extractor_name: item.extractor_name,
      path: reader?.path ?? null,
      less_paths: reader?.less_paths ?? [],
      sum_paths: reader?.sum_paths ?? [],
      type: reader?.type ?? null,
    },
    unit_price: {
      value: item.unit_price,
      expression: expressions.unitPrice,
      pricing_unit: expressions.pricingUnit,
    },
    amount: {
      value: item.amount,
      currency: item.currency,
      expression: expressions.amount,
      before_discount: toText(beforeDiscount),
    },
    total: explainedTotal(item, beforeDiscount, pricing, totalPrice),
    discount: discountOf(item, ratedBy.billing),
    priced_by: {
      pricing_source: item.pricing_source,
      rule_set_id: item.rule_set_id,
      rule_set_version: item.rule_set_version,
      rule_name: item.rule_name,
      match_expr: rule?.match_expr ?? null,
      priority: rule === undefined ? null : (rule.priority ?? PRICING_PRIORITY_DEFAULT),
      aliases: [...aliases],
      hint: item.pricing_source === 'hint' ? hintOf(item, ratedBy.billing) : null,
    },
    cost: item.cost && explainedCost(item.cost, item, event, ratedBy),
  };
}

function explainedCost(cost: ChargeItemCost, item: UsageChargeItem, event: RecordedEvent, ratedBy: RatedBy) {
  const { pricing, answerRule, extractor } = ratedBy;
  const recorded = recordedItem(item, event, extractor?.config.dimensions ?? []);
  return explainCost(cost, recorded, { config: pricing(cost.pricing_rule_set_id, cost.version), answerRule });
}

function pricingOf(item: UsageChargeItem, ratedBy: RatedBy): PricingConfig | undefined {
  if (item.pricing_source !== 'pricing_rule_set') return undefined;
  return ratedBy.pricing(item.rule_set_id, item.rule_set_version);
}

/** Asks about the rule that priced an item, if there is a question; most items have none. */
function answerOn(
  item: UsageChargeItem,
  pricing: ChargeItemExtractor | PricingRule | undefined,
  event: RecordedEvent,
  ratedBy: RatedBy,
): RuleAnswer {
  if (pricing === undefined) return NO_ANSWER;
  const isRule = item.pricing_source === 'pricing_rule_set';
  const { aliases: all = [] } = (isRule && ratedBy.pricing(item.rule_set_id, item.rule_set_version)) || {};
  const { match_expr: match } = pricing as PricingRule;
  const total = totalQuestion(item, pricing);
  const aliases = match === undefined && total === undefined ? [] : all;
  if (aliases.length === 0 && total === undefined) return NO_ANSWER;
  return ratedBy.answerRule({
    config: { aliases },
    rule: { metric: item.metric, ...(match === undefined ? {} : { match_expr: match }) },
    item: recordedItem(item, event, ratedBy.extractor?.config.dimensions ?? []),
    ...(total === undefined ? {} : { total }),
  });
}

function totalQuestion(
  { cumulative: totals, source }: UsageChargeItem,
  { cumulative, total_expr: expression }: PriceOfTotal,
): RuleQuestion['total'] {
  if (totals === null || source === 'correction' || cumulative === undefined || expression === undefined)
    return undefined;
  return { expression, by: cumulative.by ?? [], quantity: totals.after };
}

type PriceOfTotal = Pick<PricingRule, 'cumulative' | 'total_expr'>;

/** The amount is a difference of two prices, of which the second one is computed again. */
function explainedTotal(
  { cumulative: totals, source }: UsageChargeItem,
  beforeDiscount: Decimal,
  { cumulative, total_expr: expression }: PriceOfTotal = {},
  priceAfter: string | null,
): UsageItemExplanation['total'] {
  // A remainder of a correction is no difference of two prices.
  if (totals === null || source === 'correction') return null;
  return {
    ...totals,
    period: cumulative?.period ?? null,
    per: cumulative?.per ?? null,
    by: cumulative?.by ?? [],
    aggregate: cumulative === undefined ? null : (cumulative.aggregate ?? 'sum'),
    expression: expression ?? null,
    price_before: priceAfter === null ? null : toText(sub(decimal(priceAfter), beforeDiscount)),
    price_after: priceAfter,
  };
}

/** Returns the config entry of an item: the one that read it or, for others, the one that priced it. */
function extractorOf(
  item: UsageChargeItem,
  config: ExtractorConfig | undefined,
): ChargeItemExtractor | undefined {
  const sameMetric = (config?.charge_item_extractors ?? []).filter((entry) => entry.metric === item.metric);
  const name = item.source === 'extractor' ? item.extractor_name : item.rule_name;
  const named = sameMetric.find((entry) => (entry.name ?? entry.metric) === name);
  return named ?? (sameMetric.length === 1 ? sameMetric[0] : undefined);
}

type SentDecimal = number | string | NumericText;

function hintOf({ metric }: UsageChargeItem, billing: unknown): UsageItemExplanation['priced_by']['hint'] {
  const hint = fieldOf(fieldOf(billing, 'pricing_hints'), metric);
  const unitPrice = textOf(fieldOf(hint, 'unit_price'));
  if (unitPrice === null) return null;
  const currency = fieldOf(hint, 'currency');
  return {
    unit_price: unitPrice,
    pricing_unit: textOf(fieldOf(hint, 'pricing_unit')) ?? toText(ONE),
    currency: typeof currency === 'string' ? currency : null,
  };
}

function discountOf(
  { metric, discount }: UsageChargeItem,
  billing: unknown,
): UsageItemExplanation['discount'] {
  const hint = fieldOf(fieldOf(billing, 'discount_hints'), metric);
  if (hint === undefined) return null;
  return {
    value: discount,
    percent: textOf(fieldOf(hint, 'percent')),
    amount: textOf(fieldOf(hint, 'amount')),
  };
}

/** Returns an own property of parsed JSON: `constructor` is a metric like any other. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Formats a sent decimal as the API writes it. */
function textOf(sent: unknown): string | null {
  const value = sent === undefined ? undefined : decimalFromJson(sent as SentDecimal);
  return value === undefined ? null : toText(value);
}

function decimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === undefined) throw new Error(`${text} is not a decimal`);
  return value;
}
