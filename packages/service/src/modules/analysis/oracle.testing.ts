import {
  type AnalysisQuery,
  type DimensionFilter,
  MEASURES,
  type Measure,
  RESERVED_NAMES,
  SUM_MEASURES,
} from '@tollgate/contract';
import fc from 'fast-check';
import { usageItem, usageRow } from '../../testing/index.js';
import { needsOneUnit } from './measure-sql.js';

export const HOUR_S = 3_600;
export const DAY_S = 86_400;

/** Two days around the moment at which the zone's clock changes. */
export const ZONES = [
  { timezone: 'UTC', around: 1_741_503_600 },
  { timezone: 'America/New_York', around: 1_741_503_600 }, // 2025-03-09 07:00 UTC, forward
  { timezone: 'America/New_York', around: 1_762_063_200 }, // 2025-11-02 06:00 UTC, back
  { timezone: 'Australia/Lord_Howe', around: 1_759_591_800 }, // 2025-10-04 15:30 UTC, by half an hour
  { timezone: 'Asia/Kathmandu', around: 504_901_800 }, // 1985-12-31 18:30 UTC, by a quarter, permanently
  { timezone: 'Asia/Kathmandu', around: 1_741_503_600 }, // no change
] as const;

export const HOSTILE_TEXTS = [
  "it's",
  'a`b"c',
  '\\',
  '\t\n\r\b\f',
  '{tenant:String}',
  '%27',
  "'); DROP TABLE usage_events; --",
];
const MODELS = ['small', 'large', '', ...HOSTILE_TEXTS];
export const DIMENSIONS = ['model', '__proto__', 'constructor', "it's", 'bucket'];

const NAMES = ['subject_type', 'subject_id', ...RESERVED_NAMES];
/** Equal ones occur, and averages in the middle between two values of 18 digits. */
const QUANTITIES = [0n, 1n, 2n, 3n, 10n ** 18n, 10n ** 18n + 1n, 7n * 10n ** 17n];
const UNIQUES = ['model', "it's", '__proto__', 'bucket', 'nowhere', ...NAMES].map(
  (name): Measure => `unique:${name}`,
);
/** Those that rollups have, those that events have, and those of both. */
const measuresArbitrary: fc.Arbitrary<Measure[]> = fc.oneof(
  fc.shuffledSubarray([...SUM_MEASURES], { minLength: 1 }),
  fc.shuffledSubarray<Measure>(['amount', 'average', 'unique:model', 'unique:subject_type'], {
    minLength: 1,
  }),
  fc
    .tuple(fc.subarray<Measure>([...MEASURES], { minLength: 1 }), fc.subarray(UNIQUES, { maxLength: 3 }))
    .chain(([some, uniques]) => fc.shuffledSubarray([...some, ...uniques], { minLength: 1 })),
);

const itemArbitrary = fc
  .record({
    metric: fc.constantFrom('llm.tokens', 'llm.calls'),
    unit: fc.constantFrom('token', ''),
    currency: fc.constantFrom('USD', 'EUR', ''),
    quantity: fc.oneof(fc.constantFrom(...QUANTITIES), fc.bigInt({ min: 0n, max: 10n ** 38n - 1n })),
    amount: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    pricingSource: fc.constantFrom('hint', 'extractor', 'pricing_rule_set', 'unpriced'),
    cost: fc.option(
      fc.record({
        amount: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
        currency: fc.constantFrom('USD', 'EUR'),
        ruleSetId: fc.constant('prs_cost'),
        ruleSetVersion: fc.constant(1),
        ruleName: fc.constant('llm'),
      }),
    ),
  })
  .map((fields) => usageItem(fields));

export const eventArbitrary = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    offsetS: fc.integer({ min: -DAY_S, max: DAY_S }),
    subjectType: fc.constantFrom('user', 'team', ''),
    accountId: fc.constantFrom('acc_1', 'acc_2', ''),
    dimensions: fc.dictionary(fc.constantFrom(...DIMENSIONS), fc.constantFrom(...MODELS), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
    // The rollup lacks some of them, depending on the event.
    excludedDimensions: fc.subarray(DIMENSIONS),
    items: fc.array(itemArbitrary, { maxLength: 3 }),
  })
  .map(({ zone, offsetS, subjectType, accountId, dimensions, excludedDimensions, items }) =>
    usageRow({
      occurredAt: zone.around + offsetS,
      subjectType,
      subjectId: subjectType === '' ? '' : `${subjectType}-${offsetS % 3}`,
      accountId,
      dimensions: new Map(Object.entries(dimensions)),
      excludedDimensions: excludedDimensions.filter((name) => Object.hasOwn(dimensions, name)),
      items,
    }),
  );

const RESERVED_VALUES = ['user', 'team-1', 'acc_1', 'acc_2', 'hint', 'unpriced', 'no such value', ''];
const filterOf = (values: readonly string[]): fc.Arbitrary<DimensionFilter> =>
  fc.oneof(
    fc.record({ in: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }) }),
    fc.record({ not_in: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }) }),
    fc.record({ exists: fc.boolean() }),
  );
const filtersArbitrary = fc.oneof(
  fc.dictionary(fc.constantFrom(...DIMENSIONS, 'subject_type'), filterOf(MODELS), {
    maxKeys: 2,
    noNullPrototype: false,
  }),
  fc.dictionary(fc.constantFrom(...NAMES), filterOf(RESERVED_VALUES), { maxKeys: 2, noNullPrototype: false }),
);

export const queryArbitrary: fc.Arbitrary<AnalysisQuery> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    fromS: fc.integer({ min: -DAY_S, max: DAY_S }),
    lengthS: fc.integer({ min: 1, max: 2 * DAY_S }),
    bucketSize: fc.constantFrom(
      'auto',
      'none',
      '1m',
      '5m',
      '7m',
      '15m',
      '1h',
      '4h',
      '5h',
      '1d',
      '2d',
      '7d',
      '1mo',
      '3mo',
    ),
    groupBy: fc.uniqueArray(fc.constantFrom('model', '__proto__', "it's", ...NAMES), { maxLength: 3 }),
    filters: filtersArbitrary,
    subject: fc.constantFrom<Pick<AnalysisQuery, 'subject_type' | 'subject_id'>[]>(
      {},
      {},
      { subject_type: 'user' },
      { subject_id: 'team-1' },
    ),
    asked: fc.constantFrom<Pick<AnalysisQuery, 'metrics' | 'split_by'>[]>(
      { metrics: ['llm.tokens'] },
      { metrics: ['llm.tokens', 'llm.calls'], split_by: ['metric'] },
      {},
      { split_by: [] },
      { metrics: ['llm.tokens', 'llm.calls'], split_by: [] },
    ),
    measures: measuresArbitrary,
    groupsMax: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  })
  .map(({ zone, fromS, lengthS, bucketSize, groupBy, subject, groupsMax, asked, measures, ...rest }) => ({
    ...rest,
    ...asked,
    // Items have two units.
    measures: asked.split_by?.length === 0 ? summable(measures) : measures,
    time_range: { from: zone.around + fromS, to: zone.around + fromS + lengthS },
    timezone: zone.timezone,
    bucket_size: bucketSize,
    group_by: groupBy,
    ...subject,
    // Without dimensions the limit bounds rows instead.
    ...(groupsMax === undefined || groupBy.length === 0 ? {} : { limit: groupsMax }),
  }));

function summable(measures: readonly Measure[]): Measure[] {
  const rest = measures.filter((measure) => !needsOneUnit(measure));
  return rest.length === 0 ? ['amount'] : rest;
}
