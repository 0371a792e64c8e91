import { type Static, Type } from 'typebox';
import { closed, UNIX_SECONDS_MAX } from './common.js';
import {
  COUNTER_DIMENSIONS_MAX,
  COUNTER_NAME_PATTERN,
  CURRENCY_PATTERN,
  DIMENSION_NAME_PATTERN,
  EXPRESSION_BYTES_MAX,
  METRIC_PATTERN,
  NAME_CHARS_MAX,
} from './limits.js';

/** Parts of the configs of extractor and pricing rule sets. */
const pathOf = (meaning: string) => Type.String({ minLength: 1, maxLength: 1_024, description: meaning });
const PATH_SYNTAX = 'RFC 9535 singular query; `a.b` is short for `$.a.b`.';
export const Path = pathOf(PATH_SYNTAX);
export const QuantityPath = pathOf(
  `Path of the quantity; optional if there are \`sum_paths\`. ${PATH_SYNTAX}`,
);
export const DimensionPath = pathOf(`Path of the value; optional if there are \`sum_paths\`. ${PATH_SYNTAX}`);
export const SumPath = pathOf(
  'RFC 9535 query of names, indexes, `[*]` and filters such as `[?@.type == "a"]`, which may select many nodes; `a.b` is short for `$.a.b`.',
);
export const expressionFor = (meaning: string) =>
  Type.String({
    minLength: 1,
    maxLength: EXPRESSION_BYTES_MAX,
    description: `${meaning} A CEL expression of at most ${EXPRESSION_BYTES_MAX} bytes.`,
  });
export const UnitPriceExpression = expressionFor('Returns the price of `pricing_unit` units, a Decimal.');
/** Largest exact number as a JSON number; larger ones are sent as text. */
const WHOLE_NUMBER_MAX = 1_000_000_000_000;
const exactNumberAboveZero = (description: string) =>
  Type.Union(
    [Type.String({ minLength: 1, maxLength: 64 }), Type.Integer({ minimum: 1, maximum: WHOLE_NUMBER_MAX })],
    { description },
  );
export const Band = exactNumberAboveZero(
  'Lower bound of the band, inclusive. Exact decimal above 0 as text, or a whole number.',
);
export const PricingUnit = exactNumberAboveZero(
  'Number of units that `unit_price_expr` is the price of, such as `"1000"` or `"1000000"`; default: 1. Exact decimal above 0 ' +
    'as text, or a whole number. The amount is quantity × price ÷ `pricing_unit`, rounded once. The recorded unit price, and ' +
    '`item.unit_price` in `amount_expr`, are the price of one unit.',
);
export const AmountExpression = expressionFor(
  'Returns the amount, a Decimal; by default `dec_mul(item.quantity, item.unit_price)`.',
);
export const COUNTER_SCOPES = ['subject', 'account', 'project'] as const;
export const COUNTER_AGGREGATES = ['sum', 'count', 'max', 'unique'] as const;
const CounterDimension = Type.String({
  minLength: 1,
  maxLength: 64,
  description: `A dimension. Matches \`${DIMENSION_NAME_PATTERN}\`.`,
});
/** How charge items are counted over a period, so that their price depends on the total. */
export const Cumulative = Type.Object(
  {
    counter: Type.String({
      minLength: 1,
      maxLength: NAME_CHARS_MAX,
      description:
        'Name of the counter. Rules of one rule set with the same counter share its total, and must define it alike. ' +
        `Matches \`${COUNTER_NAME_PATTERN}\`.`,
    }),
    period: Type.String({
      minLength: 1,
      maxLength: 32,
      description:
        'The time after which the counter starts again: `minute`, `hour`, `day`, `week`, `month` or `year` of the calendar, `lifetime`, or a ' +
        'duration counted from the anchor, such as `5m`, `7d` or `1 month`.',
    }),
    per: Type.Enum([...COUNTER_SCOPES], {
      description:
        'Each `subject` or each `account` has a counter of its own, or the `project` has one. Timezone and anchor are those of ' +
        "the subject's route or of the account; without a route, and for a project, periods are those of the calendar in UTC. " +
        'A charge item without an account has no price from a counter per account.',
    }),
    by: Type.Optional(
      Type.Array(CounterDimension, {
        maxItems: COUNTER_DIMENSIONS_MAX,
        description:
          'Each combination of values of these dimensions has a counter of its own; a missing value is one of them.',
      }),
    ),
    aggregate: Type.Optional(
      Type.Enum([...COUNTER_AGGREGATES], {
        default: 'sum',
        description:
          'The total: the `sum` of quantities, the `count` of charge items, the greatest quantity (`max`), or the number of ' +
          '`unique` values of the dimension `of`.',
      }),
    ),
    of: Type.Optional(CounterDimension),
  },
  {
    ...closed,
    description: 'A counter. The price of a charge item is what it adds to the price of the total.',
  },
);
export const TotalExpression = expressionFor(
  'With `cumulative`, and instead of the other expressions: returns the price of `total.quantity`, a Decimal. It sees only ' +
    'this total and the dimensions in `by`. A charge item costs the price of the total after it, less the price of the total ' +
    'before it; nothing was charged before the first charge item of a period.',
);
export const entryName = (description: string) =>
  Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX, description });
export const MetricName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: `Matches \`${METRIC_PATTERN}\`.`,
});
export const currencyOf = (meaning: string, options: { readonly default?: string } = {}) =>
  Type.String({
    ...options,
    minLength: 2,
    maxLength: 12,
    description: `${meaning} An ISO 4217 code or a unit of your own, matching \`${CURRENCY_PATTERN}\`.`,
  });
export const RuleSetName = Type.String({ maxLength: NAME_CHARS_MAX, description: 'Display name.' });
export const EffectiveFrom = Type.Integer({
  minimum: 0,
  maximum: UNIX_SECONDS_MAX,
  description:
    'Unix seconds: the version applies to events that occur from then on, until another version applies. ' +
    'Default: when the version was created.',
});

export type Cumulative = Static<typeof Cumulative>;
export type CounterScope = (typeof COUNTER_SCOPES)[number];
export type CounterAggregate = (typeof COUNTER_AGGREGATES)[number];
