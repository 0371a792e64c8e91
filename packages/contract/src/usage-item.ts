import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable } from './common.js';

/** Rules that are named for a charge item without a price. */
export const NEAREST_RULES_MAX = 3;

const Text = Type.String();
const NullableText = Nullable(Text);

export const ItemSourceSchema = Type.Union([Type.Literal('extractor'), Type.Literal('x_billing')], {
  description: 'Where the quantity comes from: an extractor, or `x-billing` of the event.',
});
export const PricingSourceSchema = Type.Union(
  [
    Type.Literal('hint'),
    Type.Literal('extractor'),
    Type.Literal('pricing_rule_set'),
    Type.Literal('unpriced'),
  ],
  {
    description:
      'Where the price comes from: a hint of the event, its extractor, a pricing rule set, or nowhere.',
  },
);

const chargeItemFields = {
  extractor_name: Nullable(Type.String({ description: 'Charge item extractor that read the quantity.' })),
  metric: Text,
  unit: NullableText,
  quantity: DecimalText,
  unit_price: Nullable(DecimalText),
  amount: { ...DecimalText, description: 'What is charged: after the discount, exact and plain.' },
  discount: {
    ...DecimalText,
    description: 'What `x-billing.discount_hints` has taken off; `"0"` without.',
  },
  currency: NullableText,
  source: ItemSourceSchema,
  pricing_source: PricingSourceSchema,
  rule_set_id: Nullable(Type.String({ description: 'Rule set that priced the item.' })),
  rule_set_version: Nullable(Type.Integer()),
  rule_name: NullableText,
};

export const UsageChargeItem = Type.Object(chargeItemFields, {
  ...closed,
  description: 'A charge item as it was rated.',
});

export const PostedChargeItem = Type.Object(
  {
    ...chargeItemFields,
    ledger_transaction_id: Nullable(
      Type.String({
        description: 'Ledger transaction that posted the amount; null when nothing was posted.',
      }),
    ),
  },
  { ...closed, description: 'A charge item of a stored event.' },
);

/** Codes of the notes that rating adds. */
export const NOTE_CODES = ['quantity_clamped', 'quantity_kept', 'quantity_parts_beside'] as const;

export const UsageEventNote = Type.Object(
  {
    code: Type.Enum([...NOTE_CODES], {
      description:
        'What is subtracted from a quantity was more than there is, and the quantity is 0 (`quantity_clamped`), or nothing was ' +
        'subtracted (`quantity_kept`); or a total that the event states counts it beside the quantity (`quantity_parts_beside`).',
    }),
    metric: Text,
    path: Type.String({ description: 'The entry of the extractor rule set.' }),
    message: Text,
  },
  { ...closed, description: 'Something unusual about an event that is no failure.' },
);

export const AppliedAlias = Type.Object(
  {
    dimension: Text,
    from: Type.String({ description: 'The value of the event.' }),
    pattern: Type.String({ description: 'Of the alias.' }),
    value: Type.String({ description: 'What the rule saw instead.' }),
  },
  { ...closed, description: 'What a pricing rule set took the value of a dimension for.' },
);

export const NearestRule = Type.Object(
  {
    rule_set_id: Nullable(Type.String({ description: 'Null for rules that were sent.' })),
    rule_name: Text,
    metric: Text,
    match_expr: NullableText,
    aliases: Type.Array(AppliedAlias, {
      description:
        'Aliases of the rule set for dimensions that `match_expr` reads: it was tried with them too.',
    }),
    reason: Type.Enum(['match_false', 'match_failed', 'metric_differs', 'matches_now'], {
      description:
        '`match_false`: `match_expr` is false for the event; `match_failed`: it cannot be computed, so it does not match; ' +
        '`metric_differs`: the rule prices another metric; `matches_now`: the rule came into force after the event was rated.',
    }),
    missing_dimensions: Type.Array(Text, {
      description:
        'Dimensions that a `match_expr` which cannot be computed names and the event does not have.',
    }),
    message: Text,
  },
  { ...closed, description: 'A pricing rule, and why it does not price a charge item.' },
);

export const UnpricedItem = Type.Object(
  {
    metric: Text,
    quantity: DecimalText,
    nearest_rules: Type.Array(NearestRule, {
      description:
        'Pricing rules in force at `occurred_at` that come nearest, those of the metric first, by how much of their conditions on ' +
        `dimensions holds after aliases; up to ${NEAREST_RULES_MAX}.`,
    }),
  },
  { ...closed, description: 'A charge item that no price rule matched.' },
);

export const ExplainedQuantity = Type.Object(
  {
    value: DecimalText,
    source: ItemSourceSchema,
    extractor_name: NullableText,
    path: Nullable(
      Type.String({
        description: 'Where in `raw_json` the quantity was read; null where only `sum_paths` were.',
      }),
    ),
    less_paths: Type.Array(Type.String(), {
      description: 'Where in `raw_json` what was subtracted from it was read.',
    }),
    sum_paths: Type.Array(Type.String(), {
      description: 'Where in `raw_json` what was added to it was read.',
    }),
    type: NullableText,
  },
  { ...closed, description: 'Where a quantity was read.' },
);

export const ExplainedUnitPrice = Type.Object(
  {
    value: Nullable(DecimalText),
    expression: Nullable(
      Type.String({
        description: 'Yielded the value, or the price of `pricing_unit` units; null without one.',
      }),
    ),
    pricing_unit: Nullable({
      ...DecimalText,
      description: 'Units that `expression` is the price of, where the rule says so; null otherwise.',
    }),
  },
  { ...closed, description: 'How a unit price came about.' },
);

export const ExplainedAmount = Type.Object(
  {
    value: DecimalText,
    currency: NullableText,
    expression: Nullable(
      Type.String({
        description:
          'Yielded the amount before the discount from quantity and unit price. Null by a hint, where it is ' +
          '`quantity` × `unit_price` ÷ `pricing_unit` of the hint, rounded once; and without an `amount_expr` by a rule with a ' +
          '`pricing_unit`, where it is the same of the rule.',
      }),
    ),
    before_discount: DecimalText,
  },
  { ...closed, description: 'How an amount came about.' },
);

export const AppliedHint = Type.Object(
  { unit_price: DecimalText, pricing_unit: DecimalText, currency: NullableText },
  { ...closed, description: 'What `x-billing.pricing_hints` said: the price of `pricing_unit` units.' },
);

export const PricedBy = Type.Object(
  {
    pricing_source: PricingSourceSchema,
    rule_set_id: NullableText,
    rule_set_version: Nullable(Type.Integer()),
    rule_name: NullableText,
    match_expr: Nullable(
      Type.String({
        description: 'Of the pricing rule; without one it matches everything of its metric.',
      }),
    ),
    priority: Nullable(Type.Integer({ description: 'Of the pricing rule.' })),
    aliases: Type.Array(AppliedAlias, {
      description:
        'Aliases of the pricing rule set by which the rule was found; empty where it matched the event as it is.',
    }),
    hint: Nullable(AppliedHint),
  },
  { ...closed, description: 'What gave a charge item its price.' },
);

export const ExplainedDiscount = Type.Object(
  {
    value: { ...DecimalText, description: 'What was taken off this charge item.' },
    percent: Nullable(DecimalText),
    amount: Nullable({
      ...DecimalText,
      description: 'Taken off once for all charge items of the metric in one currency.',
    }),
  },
  { ...closed, description: 'What `x-billing.discount_hints` asked for; null where it did not.' },
);

export const UsageItemExplanation = Type.Object(
  {
    metric: Text,
    quantity: ExplainedQuantity,
    unit_price: ExplainedUnitPrice,
    amount: ExplainedAmount,
    discount: Nullable(ExplainedDiscount),
    priced_by: PricedBy,
  },
  { ...closed, description: 'How the numbers of one charge item came about.' },
);

export const ExplainedExtractor = Type.Object(
  { rule_set_id: Text, version: Nullable(Type.Integer()), name: NullableText },
  { ...closed, description: 'The rule set version that read the event.' },
);

export const UsageExplanation = Type.Object(
  {
    extractor: ExplainedExtractor,
    charge_items: Type.Array(UsageItemExplanation, { description: 'In the order of `charge_items`.' }),
  },
  { ...closed, description: 'How the numbers of an event came about.' },
);

export type PostedChargeItem = Static<typeof PostedChargeItem>;
export type UsageChargeItem = Static<typeof UsageChargeItem>;
export type UsageItemExplanation = Static<typeof UsageItemExplanation>;
export type UsageExplanation = Static<typeof UsageExplanation>;
export type UsageEventNote = Static<typeof UsageEventNote>;
export type NearestRule = Static<typeof NearestRule>;
export type UnpricedItem = Static<typeof UnpricedItem>;
