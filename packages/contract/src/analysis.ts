import { type Static, Type } from 'typebox';
import { closed, mapOf, Nullable, UnixSeconds } from './common.js';
import {
  ANALYSIS_GROUP_BY_MAX,
  ANALYSIS_METRICS_MAX,
  ANALYSIS_ROWS_MAX,
  DIMENSION_VALUE_CHARS_MAX,
  IDENTIFIER_CHARS_MAX,
} from './limits.js';
import {
  ANALYSIS_MEASURES_MAX,
  ANALYSIS_UNIQUES_MAX,
  MeasureSchema,
  UNIQUE_FIELD_PATTERN,
  type UniqueMeasure,
} from './measures.js';
import { Warnings } from './warnings.js';

/** Values of `split_by`: further fields that rows are split by, in addition to bucket, currency and group. */
export const SPLITS = ['metric'] as const;
export type Split = (typeof SPLITS)[number];

/**
 * Names in `group_by` and `filters` that mean fields of every event or, for `@pricing_source`, of every charge item.
 * No dimension can have such a name.
 */
export const RESERVED_NAMES = ['@account_id', '@pricing_source', '@subject_type', '@subject_id'] as const;
export type ReservedName = (typeof RESERVED_NAMES)[number];
/** The first character of reserved names, and of no dimension's name. */
export const RESERVED_PREFIX = '@';
/** The names that a filter can have, for descriptions. */
export const FILTERED_NAMES = `dimension or reserved name (${RESERVED_NAMES.map((name) => `\`${name}\``).join(', ')})`;

/** Latest Unix second of a range (in the year 2106): what 32 bits hold, and no event is later. */
export const ANALYSIS_TIME_MAX = 4_294_967_295;
/** Largest body of a query: its values travel to the store in a URL. */
export const ANALYSIS_BODY_BYTES_MAX = 65_536;
/** Filtered dimensions per query, and values per filter. */
export const ANALYSIS_FILTERS_MAX = 16;
export const ANALYSIS_FILTER_VALUES_MAX = 200;
/** Bounds of metric discovery: metrics listed, and values shown per dimension. */
export const METRICS_LISTED_MAX = 1_000;
export const SAMPLE_VALUES_MAX = 20;

const METRIC_CHARS_MAX = 128;
const TIMEZONE_CHARS_MAX = 64;
/** A name that no dimension has is not an error: it matches nothing. */
const DimensionName = Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX });
const FilterValues = Type.Array(Type.String({ maxLength: DIMENSION_VALUE_CHARS_MAX }), {
  minItems: 1,
  maxItems: ANALYSIS_FILTER_VALUES_MAX,
});
const Count = Type.Integer({ minimum: 0 });
const Sum = Type.String({ description: 'Exact decimal, plain: `"12.5"`.' });
const OfQuantities = Type.Optional(
  Nullable(Type.String({ description: 'Exact decimal; null in a row that only has costs.' })),
);

/** Exactly one of the three conditions. */
export const DimensionFilter = Type.Object(
  {
    in: Type.Optional(FilterValues),
    not_in: Type.Optional(FilterValues),
    exists: Type.Optional(Type.Boolean()),
  },
  {
    ...closed,
    description: 'Exactly one of `in`, `not_in` (keeps usage without the dimension) and `exists`.',
  },
);

export const AnalysisTimeRange = Type.Object(
  {
    from: Type.Optional(Type.Integer({ minimum: 0, maximum: ANALYSIS_TIME_MAX, description: 'Inclusive.' })),
    to: Type.Optional(Type.Integer({ minimum: 0, maximum: ANALYSIS_TIME_MAX, description: 'Exclusive.' })),
    last_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: ANALYSIS_TIME_MAX, description: 'Ends with the current second.' }),
    ),
  },
  { ...closed, description: '`{from, to}` or `{last_seconds}`.' },
);

const SPLIT_MEANING =
  '`["metric"]` returns rows for each metric and unit. `[]` adds up all metrics by currency; rows then have `metric: null` ' +
  'and `unit: null`.';

const splitBy = (description: string) =>
  Type.Array(Type.Literal('metric'), { maxItems: SPLITS.length, description });

export const SplitBy = splitBy(SPLIT_MEANING);

export const AnalysisQuery = Type.Object(
  {
    metrics: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: METRIC_CHARS_MAX }), {
        minItems: 1,
        maxItems: ANALYSIS_METRICS_MAX,
        description: 'Only usage of these metrics. Default: all metrics.',
      }),
    ),
    split_by: Type.Optional(splitBy(`${SPLIT_MEANING} Default: \`["metric"]\`.`)),
    measures: Type.Optional(
      Type.Array(MeasureSchema, {
        minItems: 1,
        maxItems: ANALYSIS_MEASURES_MAX,
        description:
          'Returned in this order; the first ranks groups where `limit` bounds them. Default: item_count, quantity, amount; with ' +
          '`split_by: []` item_count, amount. Quantities with different units are never added up or compared: 400 ' +
          `\`unlike_units\`. At most ${ANALYSIS_UNIQUES_MAX} measures \`unique:…\`.`,
      }),
    ),
    time_range: AnalysisTimeRange,
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TIMEZONE_CHARS_MAX,
        description: 'IANA name; default `UTC`.',
      }),
    ),
    bucket_size: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16,
        description:
          '`auto` (default), `none` for totals, a duration such as `1m`, `2h`, `3d`, or calendar months of the timezone: `1mo`.',
      }),
    ),
    group_by: Type.Optional(
      Type.Array(DimensionName, {
        maxItems: ANALYSIS_GROUP_BY_MAX + 1,
        description: `\`bucket\`, and at most four names, each a ${FILTERED_NAMES}.`,
      }),
    ),
    filters: Type.Optional(
      mapOf(DimensionFilter, {
        description: `By ${FILTERED_NAMES}; all must hold, all of them for one charge item.`,
      }),
    ),
    subject_type: Type.Optional(Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX })),
    subject_id: Type.Optional(Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ANALYSIS_ROWS_MAX,
        description:
          'With dimensions in `group_by`: the number of groups of each metric, unit and currency (with `split_by: ' +
          '[]`: of each currency) that have their own rows: the groups with the largest first measure over the ' +
          'whole time range. All others are summed in rows with `other: true`. Without dimensions: the maximum ' +
          `number of rows. In both cases at most ${ANALYSIS_ROWS_MAX.toLocaleString('en')} rows.`,
      }),
    ),
  },
  { ...closed, description: 'The usage to sum, and the fields to sum by.' },
);

export const DimensionTexts = mapOf(Nullable(Type.String()), {
  description: 'Values by the name of their dimension; null for an absent one.',
});

export const AnalysisRow = Type.Object(
  {
    bucket: Nullable(
      Type.Integer({ description: 'Start of the bucket, Unix seconds; null with `bucket_size` `none`.' }),
    ),
    metric: Nullable(Type.String({ description: 'Null where metrics are added up.' })),
    unit: Nullable(
      Type.String({ description: 'Null for charge items without a unit, and where metrics are added up.' }),
    ),
    currency: Nullable(Type.String({ description: 'Null for unpriced items.' })),
    group: {
      ...DimensionTexts,
      description:
        'Value of each grouped dimension; null for events without the dimension, and in rows of other groups.',
    },
    other: Type.Optional(
      Type.Boolean({
        description: 'Present if `limit` bounds groups: whether the row sums all groups beyond the limit.',
      }),
    ),
    item_count: Type.Optional(Count),
    quantity: Type.Optional(Sum),
    amount: Type.Optional(Sum),
    cost: Type.Optional(Sum),
    margin: Type.Optional(Sum),
    minimum: OfQuantities,
    maximum: OfQuantities,
    average: OfQuantities,
    p50: OfQuantities,
    p90: OfQuantities,
    p95: OfQuantities,
    p99: OfQuantities,
  },
  {
    ...closed,
    patternProperties: { [UNIQUE_FIELD_PATTERN]: Count },
    description:
      'The requested measures of one bucket, metric, unit, currency and group, each in a field of its name; `unique:…` is ' +
      'an integer.',
  },
);

export const AnalysisResult = Type.Object(
  {
    bucket_size: Type.String({ description: 'The size used: `none`, a duration, or months such as `1mo`.' }),
    timezone: Type.String(),
    from: Type.Integer(),
    to: Type.Integer(),
    measures: Type.Array(MeasureSchema),
    split_by: SplitBy,
    group_by: Type.Array(Type.String(), { description: 'Starts with `bucket`.' }),
    rows: Type.Array(AnalysisRow, { description: 'Sorted by bucket, metric, unit, currency and group.' }),
    truncated: Type.Boolean({ description: 'More rows exist than were returned.' }),
    warnings: Warnings,
  },
  { ...closed, description: 'The sums, one row per bucket, metric, unit, currency and group.' },
);

export const UsedDimension = Type.Object(
  {
    name: Type.String(),
    cardinality: Type.Integer({
      minimum: 1,
      description:
        'Approximate number of recent values, nearly always within 2 %. Recent means the 31 days before the metric was last ' +
        'seen or, for dimensions with too many values for rollups, the last million charge items.',
    }),
    sample_values: Type.Array(Type.String(), { description: `Up to ${SAMPLE_VALUES_MAX} recent values.` }),
  },
  { ...closed, description: 'A dimension that usage of a metric has.' },
);

export const UsedMetric = Type.Object(
  {
    metric: Type.String(),
    unit: Nullable(Type.String()),
    currencies: Type.Array(Type.String()),
    dimensions: Type.Array(UsedDimension),
    subject_types: Type.Array(Type.String()),
    unpriced_item_count: {
      ...Count,
      description: 'Charge items of the metric that have no price (`pricing_source` `unpriced`).',
    },
    first_seen_at: UnixSeconds,
    last_seen_at: UnixSeconds,
  },
  { ...closed, description: 'A metric of one unit that has usage.' },
);

export const MetricsResponse = Type.Object(
  {
    metrics: Type.Array(UsedMetric, { description: `By metric and unit; up to ${METRICS_LISTED_MAX}.` }),
  },
  { ...closed, description: 'The metrics of a project that have usage, each with its dimensions.' },
);

export type DimensionFilter = Static<typeof DimensionFilter>;
export type AnalysisTimeRange = Static<typeof AnalysisTimeRange>;
export type AnalysisQuery = Static<typeof AnalysisQuery>;
export type AnalysisRow = Static<typeof AnalysisRow> & { [Each in UniqueMeasure]?: number };
export type AnalysisResult = Omit<Static<typeof AnalysisResult>, 'rows'> & { rows: AnalysisRow[] };
export type MetricsResponse = Static<typeof MetricsResponse>;
