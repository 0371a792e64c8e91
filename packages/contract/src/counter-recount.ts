import { type Static, Type } from 'typebox';
import { DimensionTexts } from './analysis.js';
import { closed, Nullable, UnixSeconds } from './common.js';

/** Differences listed in one report; the rest is only counted. */
export const VERIFY_DIFFERENCES_MAX = 1_000;

export const COUNTER_MEASURES = ['quantity', 'amount', 'item_count', 'value_count', 'values'] as const;

export const CounterDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    rule_set_id: Type.String(),
    counter: Type.String(),
    subject_type: Nullable(Type.String()),
    subject_id: Nullable(Type.String()),
    account_id: Nullable(Type.String()),
    by: DimensionTexts,
    period_start: UnixSeconds,
    measure: Type.Enum([...COUNTER_MEASURES], {
      description:
        'The total; the sum of the amounts of its charge items before discounts; how many there are; how many ' +
        'different values a counter with the aggregate `unique` or `max` keeps; or a checksum of these values and how ' +
        'many charge items have each.',
    }),
    expected: Type.String({ description: 'By the charge items of the history.' }),
    found: Type.String({ description: 'By the counter; `"0"` if it is missing.' }),
  },
  { ...closed, description: 'A counter that differs from the charge items that it has counted.' },
);

export const CounterRecount = Type.Object(
  {
    counters: Type.Integer({ description: 'Periods of counters that were compared.' }),
    counters_unjudged: Type.Integer({
      description:
        'Periods that were not compared because not all of their usage is kept, or because there are too many.',
    }),
    unsettled: Type.Integer({ description: 'Periods that changed in the meantime.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(CounterDifference, { description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.` }),
  },
  { ...closed, description: 'Counters, compared with the charge items that name them.' },
);

export type CounterDifference = Static<typeof CounterDifference>;
export type CounterRecount = Static<typeof CounterRecount>;
