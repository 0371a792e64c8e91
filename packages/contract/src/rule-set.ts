import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, PublicationStatusSchema, pageFields, UnixSeconds } from './common.js';
import {
  DIMENSION_BANDS_MAX,
  DIMENSION_NAME_PATTERN,
  LESS_PATHS_MAX,
  RULE_SET_DIMENSIONS_MAX,
  RULE_SET_EXTRACTORS_MAX,
  SUM_NODES_MAX,
  SUM_PATHS_MAX,
} from './limits.js';
import {
  AmountExpression,
  Band,
  Cumulative,
  currencyOf,
  DimensionPath,
  EffectiveFrom,
  entryName,
  MetricName,
  Path,
  PricingUnit,
  QuantityPath,
  RuleSetName,
  SumPath,
  TotalExpression,
  UnitPriceExpression,
} from './rule-parts.js';
import { versionChangeFields } from './rule-set-change.js';

export const SubjectConfig = Type.Object(
  {
    type_path: Type.Optional(Path),
    default_type: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Type if `type_path` is not configured, or selects nothing, null or an empty string.',
      }),
    ),
    id_path: Type.Optional(Path),
    default_id: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'Id if `id_path` is not configured, or selects nothing, null or an empty string.',
      }),
    ),
    required: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether an event without both a type and an id fails; otherwise it has no subject.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Rules that read the subject from an event; not used if `subject_type` and `subject_id` come with the event.',
  },
);

export const DimensionConfig = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      description: `Name in charts and expressions. Matches \`${DIMENSION_NAME_PATTERN}\`.`,
    }),
    path: Type.Optional(DimensionPath),
    sum_paths: Type.Optional(
      Type.Array(SumPath, {
        maxItems: SUM_PATHS_MAX,
        description:
          'Only for the type `number`: every number that these paths select is added to the number at `path`, if any. ' +
          `An event in which one of them reads more than ${SUM_NODES_MAX} entries fails. If none of the paths reads ` +
          'a number, the event lacks the dimension.',
      }),
    ),
    type: Type.Union([Type.Literal('string'), Type.Literal('number'), Type.Literal('boolean')], {
      description: 'Type of the JSON value. An event with a value of another type fails.',
    }),
    bands: Type.Optional(
      Type.Array(Band, {
        minItems: 1,
        maxItems: DIMENSION_BANDS_MAX,
        description:
          'Only for the type `number`: lower bounds in ascending order. The value is the largest bound that is ' +
          'not above the number read, or 0, so that charts have few groups. With the band 200001, ' +
          '`dimensions.prompt_size > 200000` has the same result as for the whole number itself.',
      }),
    ),
    required: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether an event without it, or where it is null, fails.',
      }),
    ),
  },
  { ...closed, description: 'A dimension, and where in the event its value is.' },
);

export const StatedTotal = Type.Object(
  {
    path: Path,
    other_paths: Type.Optional(
      Type.Array(Path, {
        maxItems: LESS_PATHS_MAX,
        description: 'Paths of the other counts that the total includes.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'A total in the payload. If `path` reads the sum of the quantity, `other_paths` and `less_paths`, the quantity does not ' +
      'include `less_paths`, and they are not subtracted from it.',
  },
);

export const ChargeItemExtractor = Type.Object(
  {
    name: Type.Optional(
      entryName('Name shown with its charge items; unique in the rule set. Default: the metric.'),
    ),
    metric: MetricName,
    path: Type.Optional(QuantityPath),
    less_paths: Type.Optional(
      Type.Array(Path, {
        maxItems: LESS_PATHS_MAX,
        description:
          'Quantities that the total includes and other charge items report. They are subtracted if the event has them.',
      }),
    ),
    sum_paths: Type.Optional(
      Type.Array(SumPath, {
        maxItems: SUM_PATHS_MAX,
        description:
          'Every number that these paths select is added to the one that `path` reads, if any. An event in which one of them reads ' +
          `more than ${SUM_NODES_MAX} entries fails.`,
      }),
    ),
    on_negative: Type.Optional(
      Type.Union([Type.Literal('fail'), Type.Literal('clamp'), Type.Literal('keep')], {
        default: 'fail',
        description:
          'If `less_paths` exceed the quantity: `fail` fails the event, `clamp` makes the quantity 0, `keep` subtracts nothing. ' +
          'The last two add a note.',
      }),
    ),
    stated_total: Type.Optional(StatedTotal),
    type: Type.Union([Type.Literal('number'), Type.Literal('decimal_string')], {
      description:
        'Whether the quantity is a JSON number or a decimal in a string. If it is missing or null, there is no ' +
        'charge item.',
    }),
    unit: Type.Optional(Type.String({ maxLength: 64, description: 'Unit of the quantity.' })),
    currency: Type.Optional(currencyOf('Currency of the prices of this extractor; by default USD.')),
    unit_price_expr: Type.Optional(UnitPriceExpression),
    pricing_unit: Type.Optional(PricingUnit),
    amount_expr: Type.Optional(AmountExpression),
    cumulative: Type.Optional(Cumulative),
    total_expr: Type.Optional(TotalExpression),
  },
  {
    ...closed,
    description:
      'Creates a charge item from a quantity. Without `unit_price_expr`, `amount_expr` and `total_expr`, pricing rule sets ' +
      'price it.',
  },
);

export const OnUnpriced = Type.Union([Type.Literal('accept'), Type.Literal('fail')], {
  default: 'accept',
  description:
    'Whether an event with a charge item without a price is processed, with amount 0, or fails with the code `unpriced`, to be ' +
    'reprocessed once there is a price. This includes items of `x-billing`.',
});

/** The part of an extractor rule set that decides how an event is read and rated. */
export const ExtractorConfig = Type.Object(
  {
    subject: Type.Optional(SubjectConfig),
    dimensions: Type.Optional(
      Type.Array(DimensionConfig, {
        maxItems: RULE_SET_DIMENSIONS_MAX,
        description: 'Attributes to group and filter by, in charts and in expressions.',
      }),
    ),
    charge_item_extractors: Type.Optional(
      Type.Array(ChargeItemExtractor, {
        maxItems: RULE_SET_EXTRACTORS_MAX,
        description: 'The charged metric. Several extractors may report one metric.',
      }),
    ),
    on_unpriced: Type.Optional(OnUnpriced),
  },
  closed,
);

export const ExtractorRuleSetInput = Type.Object(
  {
    name: Type.Optional(RuleSetName),
    template_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Extractor template to expand.' }),
    ),
    effective_from: Type.Optional(EffectiveFrom),
    ...ExtractorConfig.properties,
  },
  { ...closed, description: 'A version of an extractor rule set as a whole.' },
);

export const ExtractorRuleSet = Type.Object(
  {
    id: Type.String(),
    tenant_id: Type.String(),
    project_id: Type.String(),
    name: Type.String(),
    template_id: Type.Optional(
      Type.String({
        description: 'The template that this version was made from; the other fields show the result.',
      }),
    ),
    version: Type.Integer({ minimum: 1 }),
    status: PublicationStatusSchema,
    effective_from: UnixSeconds,
    subject: SubjectConfig,
    dimensions: Type.Array(DimensionConfig),
    charge_item_extractors: Type.Array(ChargeItemExtractor),
    on_unpriced: OnUnpriced,
    created_at: UnixSeconds,
    published_at: Nullable(UnixSeconds),
  },
  {
    description:
      'One version of an extractor rule set: `created_at` is when the version was created, `published_at` is null ' +
      'while it is a draft, and the version applies to events from `effective_from` on.',
  },
);

export const ExtractorRuleSetPage = Type.Object(
  {
    extractor_rule_sets: Type.Array(ExtractorRuleSet),
    ...pageFields,
  },
  { description: 'One page of extractor rule sets, newest first; each is shown by one of its versions.' },
);

export const ExtractorRuleSetVersion = Type.Object(
  {
    ...ExtractorRuleSet.properties,
    ...versionChangeFields,
  },
  { description: 'A version of an extractor rule set, and what it changed.' },
);

export const ExtractorRuleSetVersionPage = Type.Object(
  {
    versions: Type.Array(ExtractorRuleSetVersion),
    ...pageFields,
  },
  { description: 'One page of the versions of an extractor rule set, newest first.' },
);

export const ExtractorRuleSetListQuery = Type.Object(
  { ...PageQuery.properties, status: Type.Optional(PublicationStatusSchema) },
  closed,
);

export const RuleSetReadQuery = Type.Object(
  {
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'The version to read; default: the newest one, including a draft.',
      }),
    ),
  },
  closed,
);

export type ExtractorRuleSetInput = Static<typeof ExtractorRuleSetInput>;
export type ExtractorRuleSet = Static<typeof ExtractorRuleSet>;
export type ExtractorRuleSetPage = Static<typeof ExtractorRuleSetPage>;
export type ExtractorRuleSetVersion = Static<typeof ExtractorRuleSetVersion>;
export type ExtractorRuleSetVersionPage = Static<typeof ExtractorRuleSetVersionPage>;
export type ExtractorRuleSetListQuery = Static<typeof ExtractorRuleSetListQuery>;
export type RuleSetReadQuery = Static<typeof RuleSetReadQuery>;
export type SubjectConfig = Static<typeof SubjectConfig>;
export type DimensionConfig = Static<typeof DimensionConfig>;
export type ChargeItemExtractor = Static<typeof ChargeItemExtractor>;
export type ExtractorConfig = Static<typeof ExtractorConfig>;
