import {
  type ChargeItemExtractor,
  type DimensionConfig,
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

/** The version of an extractor rule set that read an event. */
export interface ExtractorText {
  readonly name: string | null;
  readonly config: ExtractorConfig;
}

/** The recorded values of a charge item that a rule saw. */
interface RecordedItem {
  readonly metric: string;
  readonly unit: string | null;
  readonly quantity: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly dimensionTypes: readonly Pick<DimensionConfig, 'name' | 'type'>[];
  readonly subject: { readonly type: string; readonly id: string } | undefined;
  readonly occurredAt: number;
}

type Aliases = UsageItemExplanation['priced_by']['aliases'];

/** A question about the rule that priced a charge item. */
export interface RuleQuestion {
  /** The rule set whose aliases may have applied; empty without aliases. */
  readonly config: Pick<PricingConfig, 'aliases'>;
  readonly rule: Pick<PricingRule, 'metric' | 'match_expr'>;
  readonly item: RecordedItem;
  /** The price of a total, if the rule has one. */
  readonly total?: {
    readonly expression: string;
    /** Dimensions that the expression may read. */
    readonly by: readonly string[];
    /** The total, a decimal. */
    readonly quantity: string;
  };
}

export interface RuleAnswer {
  /** The aliases by which the rule matched the charge item. */
  readonly aliases: Aliases;
  /** The price of the total in the question; null without one, or if it cannot be computed. */
  readonly totalPrice: string | null;
}

/** Answers a question about a rule; implemented by the rules module. */
export type AnswerRule = (question: RuleQuestion) => RuleAnswer;

/** Answers the questions about one event, in their order. May run on another thread, because it compiles expressions. */
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
  /** A version of a pricing rule set that priced one of its charge items. */
  pricing(ruleSetId: string | null, version: number | null): PricingConfig | undefined;
  readonly answerRule: AnswerRule;
  /** The event's `x-billing`, parsed without losing a digit. */
  readonly billing: unknown;
}

/** The values of an event that rules see, except its charge items. */
export type RecordedEvent = Pick<UsageEvent, 'dimensions' | 'subject_type' | 'subject_id' | 'occurred_at'>;

/** Amount expression of an extractor or rule that has a unit price and no amount expression. */
const AMOUNT_EXPRESSION_DEFAULT = 'dec_mul(item.quantity, item.unit_price)';
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

const NO_ANSWER: RuleAnswer = { aliases: [], totalPrice: null };

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
  const rule = ruleOf(item, ratedBy);
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
  };
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
  { cumulative: totals }: UsageChargeItem,
  { cumulative, total_expr: expression }: PriceOfTotal,
): RuleQuestion['total'] {
  if (totals === null || cumulative === undefined || expression === undefined) return undefined;
  return { expression, by: cumulative.by ?? [], quantity: totals.after };
}

type PriceOfTotal = Pick<PricingRule, 'cumulative' | 'total_expr'>;

/** The amount is a difference of two prices, of which the second one is computed again. */
function explainedTotal(
  { cumulative: totals }: UsageChargeItem,
  beforeDiscount: Decimal,
  { cumulative, total_expr: expression }: PriceOfTotal = {},
  priceAfter: string | null,
): UsageItemExplanation['total'] {
  if (totals === null) return null;
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

/** The values of a charge item that rules see. */
export function recordedItem(
  { metric, unit, quantity }: Pick<UsageChargeItem, 'metric' | 'unit' | 'quantity'>,
  { dimensions, subject_type: type, subject_id: id, occurred_at: occurredAt }: RecordedEvent,
  dimensionTypes: RecordedItem['dimensionTypes'],
): RecordedItem {
  const subject = type === null || id === null ? undefined : { type, id };
  return { metric, unit, quantity, dimensions, dimensionTypes, subject, occurredAt };
}

interface Expressions {
  readonly unitPrice: string | null;
  readonly pricingUnit: string | null;
  readonly amount: string | null;
}

const NO_EXPRESSIONS: Expressions = { unitPrice: null, pricingUnit: null, amount: null };

/** Price expressions of an entry that has a price for the charge item alone; others have none. */
function expressionsOf(
  pricing: Pick<PricingRule, 'unit_price_expr' | 'pricing_unit' | 'amount_expr' | 'total_expr'>,
): Expressions {
  if (pricing.total_expr !== undefined) return NO_EXPRESSIONS;
  const pricingUnit = pricing.pricing_unit === undefined ? null : String(pricing.pricing_unit);
  const amountDefault = pricingUnit === null ? AMOUNT_EXPRESSION_DEFAULT : null;
  return {
    unitPrice: pricing.unit_price_expr ?? null,
    pricingUnit,
    amount: pricing.amount_expr ?? amountDefault,
  };
}

/** Returns the config entry of an item: the one that read it or, for an item in `x-billing`, the one that priced it. */
function extractorOf(
  item: UsageChargeItem,
  config: ExtractorConfig | undefined,
): ChargeItemExtractor | undefined {
  const sameMetric = (config?.charge_item_extractors ?? []).filter((entry) => entry.metric === item.metric);
  const name = item.source === 'x_billing' ? item.rule_name : item.extractor_name;
  const named = sameMetric.find((entry) => (entry.name ?? entry.metric) === name);
  return named ?? (sameMetric.length === 1 ? sameMetric[0] : undefined);
}

/** Returns the pricing rule by its recorded name: its own name, or otherwise its place or its metric. */
function ruleOf(item: UsageChargeItem, ratedBy: RatedBy): PricingRule | undefined {
  if (item.pricing_source !== 'pricing_rule_set') return undefined;
  const rules = ratedBy.pricing(item.rule_set_id, item.rule_set_version)?.rules ?? [];
  const { rule_name: name, metric } = item;
  return (
    rules.find((rule) => rule.name === name) ??
    rules.find((rule, position) => rule.name === undefined && name === `rules[${position}]`) ??
    rules.find((rule) => rule.name === undefined && rule.metric === metric)
  );
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
