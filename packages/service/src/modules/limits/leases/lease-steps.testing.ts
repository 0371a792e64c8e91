import fc from 'fast-check';
import { DAY_S, HOUR_S } from './lease-oracle.testing.js';

/** One of several requests that arrive at the same time. */
export type Asked =
  | {
      readonly do: 'grant';
      readonly amount: number;
      readonly metric: string | null;
      /** The idempotency key, one of a few. */
      readonly key: number | null;
    }
  /** An index that may name an active lease, an ended one or none. */
  | { readonly do: 'close'; readonly which: number };

export type Step =
  | { readonly do: 'lease'; readonly amount: number; readonly metric: string | null; readonly ttl: number }
  | { readonly do: 'close'; readonly which: number }
  /** `isFound`: whether the leases to close were read before, without a lock. */
  | { readonly do: 'together'; readonly asked: readonly Asked[]; readonly isFound: boolean }
  | {
      readonly do: 'use';
      readonly which: number;
      readonly amount: number;
      readonly metric: string;
      readonly lateS: number;
    }
  | { readonly do: 'wait'; readonly seconds: number; readonly sweeps: boolean };

export type LeaseStep = Extract<Step, { do: 'lease' }>;

const metric = fc.constantFrom('m.a', 'm.b', 'other');
const asked = (key: fc.Arbitrary<number | null>): fc.Arbitrary<Asked> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('grant' as const),
        amount: fc.integer({ min: 1, max: 9 }),
        metric: fc.option(metric),
        key,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), which: fc.nat(20) }) },
  );
/** Groups with keys, and groups without them. */
const group = fc.oneof(fc.constant(fc.option(fc.nat(2))), fc.constant(fc.constant(null)));
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('together' as const),
      asked: group.chain((key) => fc.array(asked(key), { minLength: 2, maxLength: 8 })),
      isFound: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('lease' as const),
      amount: fc.integer({ min: 1, max: 15 }),
      metric: fc.option(metric),
      ttl: fc.constantFrom(60, HOUR_S, DAY_S),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      which: fc.nat(20),
      amount: fc.integer({ min: -9, max: 9 }),
      metric,
      lateS: fc.constantFrom(0, HOUR_S, DAY_S),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(30, 60, HOUR_S, DAY_S),
      sweeps: fc.boolean(),
    }),
  },
);
