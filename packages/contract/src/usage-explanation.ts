import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable, UnixSeconds } from './common.js';
import { AppliedAlias, ItemSourceSchema, PricingSourceSchema } from './usage-item.js';

const Text = Type.String();
const NullableText = Nullable(Text);

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

export const ExplainedCost = Type.Object(
  {
    value: DecimalText,
    currency: Text,
    expression: Nullable(
      Type.String({
        description:
          'The expression that returned the value. Null for a rule that has a `pricing_unit` and no `amount_expr`.',
      }),
    ),
    unit_price_expression: Nullable(
      Type.String({ description: 'The expression for the cost of one unit, or of `pricing_unit` units.' }),
    ),
    pricing_unit: Nullable(DecimalText),
    pricing_rule_set_id: NullableText,
    version: Nullable(Type.Integer()),
    rule: Text,
    match_expr: NullableText,
    priority: Nullable(Type.Integer()),
    aliases: Type.Array(AppliedAlias, {
      description: 'Aliases of the rule set by which the rule matched.',
    }),
  },
  { ...closed, description: 'The calculation of a cost, and the rule that gave it.' },
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
    cost: Nullable(ExplainedCost),
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

export type ExplainedCost = Static<typeof ExplainedCost>;
export type UsageItemExplanation = Static<typeof UsageItemExplanation>;
export type UsageExplanation = Static<typeof UsageExplanation>;
