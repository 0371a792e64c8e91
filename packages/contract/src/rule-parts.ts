import { Type } from 'typebox';
import { UNIX_SECONDS_MAX } from './common.js';
import { CURRENCY_PATTERN, EXPRESSION_BYTES_MAX, METRIC_PATTERN, NAME_CHARS_MAX } from './limits.js';

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
