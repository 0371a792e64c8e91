import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, PublicationStatusSchema, pageFields, UnixSeconds } from './common.js';
import {
  ALIAS_CHARS_MAX,
  ALIAS_STARS_MAX,
  DIMENSION_NAME_PATTERN,
  PRICING_ALIASES_MAX,
  PRICING_RULES_MAX,
} from './limits.js';
import {
  AmountExpression,
  Cumulative,
  currencyOf,
  EffectiveFrom,
  entryName,
  expressionFor,
  MetricName,
  PricingUnit,
  RuleSetName,
  TotalExpression,
  UnitPriceExpression,
} from './rule-parts.js';
import { versionChangeFields } from './rule-set-change.js';
import { Warnings } from './warnings.js';

/** Upper bound of the active pricing rule sets of one extractor rule set: published, and not archived. */
export const PRICING_RULE_SETS_IN_FORCE_MAX = 50;

export const PRICING_CURRENCY_DEFAULT = 'USD';
export const PRICING_PRIORITY_DEFAULT = 0;

/** The rules of a pricing rule set give a charge item its price, or its cost. */
export const PRICING_PURPOSES = ['price', 'cost'] as const;
export const PRICING_PURPOSE_DEFAULT = 'price';

const Purpose = (more: string) =>
  Type.Enum([...PRICING_PURPOSES], {
    description:
      '`price`: charge items without another price get one. `cost`: every charge item gets a cost besides, ' +
      'which is posted nowhere. Cost rules cannot have `cumulative` and `total_expr`: a 400 names each that has.' +
      more,
  });

const ExtractorRuleSetId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The extractor rule set to which it is bound permanently.',
});

/** Prices the charge items of a metric for which `match_expr` is true; the first matching rule in order applies. */
export const PricingRule = Type.Object(
  {
    name: Type.Optional(
      entryName(
        'Name shown with the charge items that it prices; unique in the rule set. Default: the metric.',
      ),
    ),
    priority: Type.Optional(
      Type.Integer({
        minimum: -2_147_483_648,
        maximum: 2_147_483_647,
        default: PRICING_PRIORITY_DEFAULT,
        description:
          'Rules are tried in ascending order of priority; rules of equal priority in the order in which they ' +
          'were sent.',
      }),
    ),
    metric: MetricName,
    match_expr: Type.Optional(
      expressionFor(
        'Condition for pricing a charge item, a bool; by default the rule prices every charge item of its ' +
          'metric. An expression that cannot be computed, for example because a dimension is missing, does not ' +
          'match.',
      ),
    ),
    unit_price_expr: Type.Optional(UnitPriceExpression),
    pricing_unit: Type.Optional(PricingUnit),
    amount_expr: Type.Optional(AmountExpression),
    cumulative: Type.Optional(Cumulative),
    total_expr: Type.Optional(TotalExpression),
  },
  {
    ...closed,
    description:
      'A price for the charge items of a metric. At least one of `unit_price_expr` and `amount_expr`, or `cumulative` with ' +
      '`total_expr`, is required; if it cannot be computed, the event fails.',
  },
);

export const PricingAlias = Type.Object(
  {
    dimension: Type.String({
      minLength: 1,
      maxLength: 64,
      description: `The text dimension whose values are replaced. Matches \`${DIMENSION_NAME_PATTERN}\`.`,
    }),
    pattern: Type.String({
      minLength: 1,
      maxLength: ALIAS_CHARS_MAX,
      description:
        `Matches the whole value: \`*\` matches any text, including none; at most ${ALIAS_STARS_MAX} of them. ` +
        'Every other character matches itself.',
    }),
    value: Type.String({
      minLength: 1,
      maxLength: ALIAS_CHARS_MAX,
      description: 'The value that the rules see instead. It is not looked up among the aliases again.',
    }),
  },
  {
    ...closed,
    description:
      'Another name for a value in the conditions of rules, such as a model with its release date.',
  },
);

/** The part of a pricing rule set that determines the price of charge items. */
export const PricingConfig = Type.Object(
  {
    currency: Type.Optional(
      currencyOf('Currency of all prices of the rule set.', { default: PRICING_CURRENCY_DEFAULT }),
    ),
    rules: Type.Optional(
      Type.Array(PricingRule, {
        maxItems: PRICING_RULES_MAX,
        description: 'Tried in order of `priority`; the first that matches gives the price.',
      }),
    ),
    aliases: Type.Optional(
      Type.Array(PricingAlias, {
        maxItems: PRICING_ALIASES_MAX,
        description:
          'Applied to the dimensions of an event before the rules of this rule set are matched; if several patterns match a ' +
          'value, the first applies. A rule that matches the original value comes first. Recorded dimensions, charts and ' +
          'limits keep the original value.',
      }),
    ),
  },
  closed,
);

export const PricingRuleSetInput = Type.Object(
  {
    extractor_rule_set_id: ExtractorRuleSetId,
    purpose: Type.Optional(
      Purpose(
        ' Fixed when the rule set is created; default then: `price`. An update with another one returns 409 ' +
          '`pricing_purpose_fixed`.',
      ),
    ),
    name: Type.Optional(RuleSetName),
    effective_from: Type.Optional(EffectiveFrom),
    ...PricingConfig.properties,
  },
  { ...closed, description: 'A version of a pricing rule set as a whole.' },
);

export const PricingRuleSet = Type.Object(
  {
    id: Type.String(),
    tenant_id: Type.String(),
    project_id: Type.String(),
    extractor_rule_set_id: ExtractorRuleSetId,
    purpose: Purpose(''),
    name: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    status: PublicationStatusSchema,
    currency: Type.String(),
    effective_from: UnixSeconds,
    rules: Type.Array(PricingRule),
    aliases: Type.Array(PricingAlias),
    created_at: UnixSeconds,
    published_at: Nullable(UnixSeconds),
  },
  {
    description:
      'One version of a pricing rule set; its rules are sorted by priority. Its times have the same meaning as in ' +
      'an extractor rule set.',
  },
);

export const SavedPricingRuleSet = Type.Object(
  { ...PricingRuleSet.properties, warnings: Warnings },
  { description: 'The pricing rule set as it was saved, with warnings about it.' },
);

export const PricingRuleSetPage = Type.Object(
  {
    pricing_rule_sets: Type.Array(PricingRuleSet),
    ...pageFields,
  },
  { description: 'One page of pricing rule sets, newest first; each is shown by one of its versions.' },
);

export const PricingRuleSetVersion = Type.Object(
  { ...PricingRuleSet.properties, ...versionChangeFields },
  { description: 'A version of a pricing rule set, and what it changed.' },
);

export const PricingRuleSetVersionPage = Type.Object(
  {
    versions: Type.Array(PricingRuleSetVersion),
    ...pageFields,
  },
  { description: 'One page of the versions of a pricing rule set, newest first.' },
);

export const PricingRuleSetListQuery = Type.Object(
  {
    ...PageQuery.properties,
    status: Type.Optional(PublicationStatusSchema),
    extractor_rule_set_id: Type.Optional(ExtractorRuleSetId),
    purpose: Type.Optional(Purpose('')),
  },
  closed,
);

export type PricingPurpose = (typeof PRICING_PURPOSES)[number];
export type PricingAlias = Static<typeof PricingAlias>;
export type PricingRule = Static<typeof PricingRule>;
export type PricingConfig = Static<typeof PricingConfig>;
export type PricingRuleSetInput = Static<typeof PricingRuleSetInput>;
export type PricingRuleSet = Static<typeof PricingRuleSet>;
export type SavedPricingRuleSet = Static<typeof SavedPricingRuleSet>;
export type PricingRuleSetPage = Static<typeof PricingRuleSetPage>;
export type PricingRuleSetVersion = Static<typeof PricingRuleSetVersion>;
export type PricingRuleSetVersionPage = Static<typeof PricingRuleSetVersionPage>;
export type PricingRuleSetListQuery = Static<typeof PricingRuleSetListQuery>;
