import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable, UnixSeconds } from './common.js';

/** Upper bound of the rules listed for a charge item without a price. */
export const NEAREST_RULES_MAX = 3;
/** Metrics that are suggested when no rule prices the metric of a charge item. */
export const PRICED_METRICS_MAX = 5;

const Text = Type.String();
const NullableText = Nullable(Text);

export const ItemSourceSchema = Type.Union(
  [Type.Literal('extractor'), Type.Literal('x_billing'), Type.Literal('correction')],
  {
    description:
      'Source of the quantity: an extractor, or `x-billing` of the event. `correction`: the item is what a correction ' +
      'left of the amount of a former charge item, whose total has changed since; its quantity is 0, and it is not counted.',
  },
);
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

export const ChargeItemCost = Type.Object(
  {
    amount: { ...DecimalText, description: 'An exact plain decimal; discounts do not change it.' },
    currency: Text,
    pricing_rule_set_id: Nullable(
      Type.String({ description: 'Pricing rule set with the purpose `cost`; null for rules of a request.' }),
    ),
    version: Nullable(Type.Integer()),
    rule: Type.String({ description: 'Name of the rule that matched.' }),
  },
  { ...closed, description: 'The cost of a charge item. It is posted to no wallet, limit or lease.' },
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
  cost: Nullable(ChargeItemCost),
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
export const NOTE_CODES = [
  'quantity_clamped',
  'quantity_kept',
  'quantity_parts_beside',
  'cost_failed',
] as const;

export const UsageEventNote = Type.Object(
  {
    code: Type.Enum([...NOTE_CODES], {
      description:
        'The amounts to subtract exceeded a quantity, which was set to 0 (`quantity_clamped`) or left as it was ' +
        '(`quantity_kept`); or a total in the event shows that the quantity does not include them (`quantity_parts_beside`). ' +
        '`cost_failed`: the cost rule that matched a charge item could not be computed, so the charge item has no cost.',
    }),
    metric: Text,
    path: Type.String({
      description: 'The entry of the extractor rule set or, for `cost_failed`, of the cost rules.',
    }),
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

export type CumulativeTotals = Static<typeof CumulativeTotals>;
export type ChargeItemCost = Static<typeof ChargeItemCost>;
export type PostedChargeItem = Static<typeof PostedChargeItem>;
export type UsageChargeItem = Static<typeof UsageChargeItem>;
export type UsageEventNote = Static<typeof UsageEventNote>;
export type AppliedAlias = Static<typeof AppliedAlias>;
export type NearestRule = Static<typeof NearestRule>;
export type UnpricedItem = Static<typeof UnpricedItem>;
