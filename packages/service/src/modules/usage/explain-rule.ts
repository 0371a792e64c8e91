import type {
  DimensionConfig,
  PricingConfig,
  PricingRule,
  UsageChargeItem,
  UsageEvent,
  UsageItemExplanation,
} from '@tollgate/contract';

/** The recorded values of a charge item that a rule saw. */
export interface ItemForRules {
  readonly metric: string;
  readonly unit: string | null;
  readonly quantity: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly dimensionTypes: readonly Pick<DimensionConfig, 'name' | 'type'>[];
  readonly subject: { readonly type: string; readonly id: string } | undefined;
  readonly occurredAt: number;
}

export type Aliases = UsageItemExplanation['priced_by']['aliases'];

/** A question about the rule that priced a charge item. */
export interface RuleQuestion {
  /** The rule set whose aliases may have applied; empty without aliases. */
  readonly config: Pick<PricingConfig, 'aliases'>;
  readonly rule: Pick<PricingRule, 'metric' | 'match_expr'>;
  readonly item: ItemForRules;
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

/** Returns the answer to a question about a rule. The rules module implements it. */
export type AnswerRule = (question: RuleQuestion) => RuleAnswer;

/** The values of an event that rules see, except its charge items. */
export type RecordedEvent = Pick<UsageEvent, 'dimensions' | 'subject_type' | 'subject_id' | 'occurred_at'>;

export const NO_ANSWER: RuleAnswer = { aliases: [], totalPrice: null };

/** Amount expression of an extractor or rule that has a unit price and no amount expression. */
const AMOUNT_EXPRESSION_DEFAULT = 'dec_mul(item.quantity, item.unit_price)';

/** The values of a charge item that rules see. */
export function recordedItem(
  { metric, unit, quantity }: Pick<UsageChargeItem, 'metric' | 'unit' | 'quantity'>,
  { dimensions, subject_type: type, subject_id: id, occurred_at: occurredAt }: RecordedEvent,
  dimensionTypes: ItemForRules['dimensionTypes'],
): ItemForRules {
  const subject = type === null || id === null ? undefined : { type, id };
  return { metric, unit, quantity, dimensions, dimensionTypes, subject, occurredAt };
}

export interface Expressions {
  readonly unitPrice: string | null;
  readonly pricingUnit: string | null;
  readonly amount: string | null;
}

export const NO_EXPRESSIONS: Expressions = { unitPrice: null, pricingUnit: null, amount: null };

/** Price expressions of an entry that has a price for the charge item alone; others have none. */
export function expressionsOf(
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

/** Returns the pricing rule by its recorded name: its own name, or otherwise its place or its metric. */
export function ruleNamed(
  { rules = [] }: PricingConfig,
  name: string | null,
  metric: string,
): PricingRule | undefined {
  return (
    rules.find((rule) => rule.name === name) ??
    rules.find((rule, position) => rule.name === undefined && name === `rules[${position}]`) ??
    rules.find((rule) => rule.name === undefined && rule.metric === metric)
  );
}
