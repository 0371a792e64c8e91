import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable, UnixSeconds } from './common.js';

/** Upper bound of the rules listed for a charge item without a price. */
export const NEAREST_RULES_MAX = 3;
/** Metrics that are suggested when no rule prices the metric of a charge item. */
export const PRICED_METRICS_MAX = 5;

const Text = Type.String();
const NullableText = Nullable(Text);

export const ItemSourceSchema = Type.Union([Type.Literal('extractor'), Type.Literal('x_billing')], {
  description: 'Source of the quantity: an extractor, or `x-billing` of the event.',
});
export const PricingSourceSchema = Type.Union(
  [
    Type.Literal('hint'),
    Type.Literal('extractor'),
    Type.Literal('pricing_rule_set'),
    Type.Literal('unpriced'),
  ],
  {
    description: 'Source of the price: a hint of the event, its extractor, a pricing rule set, or none.',
  },
);

export const CumulativeTotals = Type.Object(
  {
    counter: Text,
    period_start: UnixSeconds,
    before: {
      ...DecimalText,
      description: 'The total before the charge item; `"0"` for the first of a period.',
    },
    after: { ...DecimalText, description: 'The total after the charge item.' },
  },
  {
    ...closed,
    description: 'The totals of a counter that set the amount: the price of one less the price of the other.',
  },
);

const chargeItemFields = {
  extractor_name: Nullable(Type.String({ description: 'Charge item extractor that read the quantity.' })),
  metric: Text,
  unit: NullableText,
  quantity: DecimalText,
  unit_price: Nullable(DecimalText),
  amount: { ...DecimalText, description: 'The charged amount, after the discount; an exact plain decimal.' },
  discount: {
    ...DecimalText,
    description: 'The part that `x-billing.discount_hints` took off; `"0"` without a discount.',
  },
  currency: NullableText,
  source: ItemSourceSchema,
  pricing_source: PricingSourceSchema,
  rule_set_id: Nullable(Type.String({ description: 'Rule set that priced the item.' })),
  rule_set_version: Nullable(Type.Integer()),
  rule_name: NullableText,
  cumulative: Nullable(CumulativeTotals),
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
        'The amounts to subtract exceeded a quantity, which was set to 0 (`quantity_clamped`) or left as it was ' +
        '(`quantity_kept`); or a total in the event shows that the quantity does not include them (`quantity_parts_beside`).',
    }),
    metric: Text,
    path: Type.String({ description: 'The entry of the extractor rule set.' }),
    message: Text,
  },
  { ...closed, description: 'Something unusual about an event, which is not a failure.' },
);

export const AppliedAlias = Type.Object(
  {
    dimension: Text,
    from: Type.String({ description: 'The value of the event.' }),
    pattern: Type.String({ description: 'The pattern of the alias.' }),
    value: Type.String({ description: 'The value that the rule saw instead.' }),
  },
  { ...closed, description: 'An alias that was applied to the value of a dimension.' },
);

export const NearestRule = Type.Object(
  {
    rule_set_id: Nullable(Type.String({ description: 'Null for rules sent with the request.' })),
    rule_name: Text,
    metric: Text,
    match_expr: NullableText,
    aliases: Type.Array(AppliedAlias, {
      description:
        'Aliases of the rule set for dimensions that `match_expr` reads; it was evaluated with them too.',
    }),
    reason: Type.Enum(['match_false', 'match_failed', 'matches_now'], {
      description:
        '`match_false`: `match_expr` is false for the event; `match_failed`: it cannot be evaluated, so it does not match; ' +
        '`matches_now`: the rule became active after the event was rated.',
    }),
    missing_dimensions: Type.Array(Text, {
      description: 'Dimensions in a `match_expr` that cannot be evaluated because the event lacks them.',
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
        'The closest pricing rules of the metric that were active at `occurred_at`, by the number of conditions on dimensions that hold after ' +
        `aliases; up to ${NEAREST_RULES_MAX}. Empty if no rule prices the metric.`,
    }),
    priced_metrics: Type.Array(Text, {
      description:
        'If no active rule prices the metric: metrics that rules price, those with the most similar name first; up to ' +
        `${PRICED_METRICS_MAX}. Otherwise empty.`,
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
        description:
          'Path in `raw_json` from which the quantity was read; null if only `sum_paths` were read.',
      }),
    ),
    less_paths: Type.Array(Type.String(), {
      description: 'Paths in `raw_json` from which the subtracted numbers were read.',
    }),
    sum_paths: Type.Array(Type.String(), {
      description: 'Paths in `raw_json` from which the added numbers were read.',
    }),
    type: NullableText,
  },
  { ...closed, description: 'The source of a quantity.' },
);

export const ExplainedUnitPrice = Type.Object(
  {
    value: Nullable(DecimalText),
    expression: Nullable(
      Type.String({
        description:
          'The expression that returned the value, or the price of `pricing_unit` units; null if there is none.',
      }),
    ),
    pricing_unit: Nullable({
      ...DecimalText,
      description: 'Number of units that `expression` is the price of, if the rule sets it; null otherwise.',
    }),
  },
  { ...closed, description: 'The calculation of a unit price.' },
);

export const ExplainedAmount = Type.Object(
  {
    value: DecimalText,
    currency: NullableText,
    expression: Nullable(
      Type.String({
        description:
          'The expression that returned the amount before the discount. Null for the price of a hint, or of a rule that has a ' +
          '`pricing_unit` and no `amount_expr`: the amount is then `quantity` × `unit_price` ÷ `pricing_unit` of that hint or ' +
          'rule, rounded once.',
      }),
    ),
    before_discount: DecimalText,
  },
  { ...closed, description: 'The calculation of an amount.' },
);

export const ExplainedTotal = Type.Object(
  {
    counter: Text,
    period: Nullable(Type.String({ description: 'The period of the counter, as the rule has it.' })),
    period_start: UnixSeconds,
    per: Nullable(
      Type.String({ description: 'The counter is that of the `subject`, the `account` or the `project`.' }),
    ),
    by: Type.Array(Text, { description: 'Dimensions whose values have counters of their own.' }),
    aggregate: Nullable(Type.String({ description: 'The total: `sum`, `count`, `max` or `unique`.' })),
    expression: Nullable(Type.String({ description: 'The price of a total.' })),
    before: { ...DecimalText, description: 'The total before the charge item.' },
    after: { ...DecimalText, description: 'The total after the charge item.' },
    price_before: Nullable({
      ...DecimalText,
      description: 'The price of the total before; `"0"` for the first charge item of a period.',
    }),
    price_after: Nullable({ ...DecimalText, description: 'The price of the total after.' }),
  },
  {
    ...closed,
    description:
      'The calculation of an amount that depends on a total: `price_after` less `price_before`. Fields of the rule and both prices ' +
      'are null if the rule is not found.',
  },
);

export const AppliedHint = Type.Object(
  { unit_price: DecimalText, pricing_unit: DecimalText, currency: NullableText },
  { ...closed, description: 'The hint in `x-billing.pricing_hints`: the price of `pricing_unit` units.' },
);

export const PricedBy = Type.Object(
  {
    pricing_source: PricingSourceSchema,
    rule_set_id: NullableText,
    rule_set_version: Nullable(Type.Integer()),
    rule_name: NullableText,
    match_expr: Nullable(
      Type.String({
        description:
          'Condition of the pricing rule; a rule without one matches all charge items of its metric.',
      }),
    ),
    priority: Nullable(Type.Integer({ description: 'Priority of the pricing rule.' })),
    aliases: Type.Array(AppliedAlias, {
      description:
        'Aliases of the pricing rule set by which the rule matched; empty if it matched the original values.',
    }),
    hint: Nullable(AppliedHint),
  },
  { ...closed, description: 'The source of the price of a charge item.' },
);

export const ExplainedDiscount = Type.Object(
  {
    value: { ...DecimalText, description: 'The discount on this charge item.' },
    percent: Nullable(DecimalText),
    amount: Nullable({
      ...DecimalText,
      description: 'Amount deducted once from all charge items of the metric in one currency.',
    }),
  },
  { ...closed, description: 'The hint in `x-billing.discount_hints`; null if there is none.' },
);

export const UsageItemExplanation = Type.Object(
  {
    metric: Text,
    quantity: ExplainedQuantity,
    unit_price: ExplainedUnitPrice,
    amount: ExplainedAmount,
    total: Nullable(ExplainedTotal),
    discount: Nullable(ExplainedDiscount),
    priced_by: PricedBy,
  },
  { ...closed, description: 'How the numbers of one charge item were calculated.' },
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
  { ...closed, description: 'How the numbers of an event were calculated.' },
);

export type CumulativeTotals = Static<typeof CumulativeTotals>;
export type PostedChargeItem = Static<typeof PostedChargeItem>;
export type UsageChargeItem = Static<typeof UsageChargeItem>;
export type UsageItemExplanation = Static<typeof UsageItemExplanation>;
export type UsageExplanation = Static<typeof UsageExplanation>;
export type UsageEventNote = Static<typeof UsageEventNote>;
export type AppliedAlias = Static<typeof AppliedAlias>;
export type NearestRule = Static<typeof NearestRule>;
export type UnpricedItem = Static<typeof UnpricedItem>;
