import fc from 'fast-check';
import type { LeaseInput } from './lease.js';
import { type AskedModelHold, type AskedModelLease, CHAIN, type TreeLease } from './tree-oracle.testing.js';

/** The stored value of one. */
export const MODEL_UNIT = 10n ** 18n;

const metric = fc.constantFrom('m.a', 'm.a', 'm.b', 'n');
const model = fc.option(fc.constantFrom('x', 'x', 'y'), { nil: undefined, freq: 1 });
const subject = fc.constantFrom(...CHAIN);
const ttl = fc.constantFrom(30, 120, 600);
const which = fc.nat(30);
const hold = fc.record({
  unit: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('amount USD', 'quantity m.a') },
    { weight: 1, arbitrary: fc.constantFrom('amount EUR', 'quantity m.b', 'quantity n') },
  ),
  amount: fc.integer({ min: 1, max: 12 }),
});
const ask = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      /** The lease to take a part of, if it exists. */
      parent: fc.option(which, { nil: undefined, freq: 3 }),
      subject,
      metric: fc.option(metric, { nil: undefined, freq: 2 }),
      model,
      ttl,
      isPlain: fc.boolean(),
      /** Whether a part asks for a little of what its parent holds. */
      isFitting: fc.constantFrom(true, true, true, false),
      holds: fc.uniqueArray(hold, { maxLength: 3, selector: ({ unit }) => unit }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const), which, ttl }) },
);
const usage = fc.record({
  which,
  metric,
  model,
  amount: fc.integer({ min: -3, max: 9 }),
  quantity: fc.integer({ min: -3, max: 9 }),
});
/** A step of a model with trees of leases. */
export const treeStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      asks: fc.array(ask, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      events: fc.array(usage, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(10, 30, 60),
      sweeps: fc.boolean(),
    }),
  },
);
type ValueOf<Source> = Source extends fc.Arbitrary<infer Value> ? Value : never;
export type TreeAsk = ValueOf<typeof ask>;
export type TreeUsage = ValueOf<typeof usage>;
export type TreeStep = ValueOf<typeof treeStep>;

/**
 * Returns what a request asks for, as the oracle knows it. Most parts are of what their parent holds; all have its
 * work, because the routes refuse other work before a request is decided.
 */
export function askedByTree(
  { subject: of, metric: only, model: text, ttl: life, isFitting, holds }: Extract<TreeAsk, { do: 'grant' }>,
  parent: TreeLease | undefined,
): AskedModelLease {
  const asked = holds.map(({ unit: key, amount }): AskedModelHold => {
    const [kind, unit] = key.split(' ') as ['amount' | 'quantity', string];
    return { kind, unit, amount };
  });
  if (parent === undefined) return { subject: of, metric: only, model: text, ttl: life, holds: asked };
  const parts = parent.holds.map((hold, index) => ({ ...hold, amount: asked[index]?.amount ?? 2 }));
  const isBelow = CHAIN.indexOf(of) >= CHAIN.indexOf(parent.subject);
  return {
    subject: isFitting && !isBelow ? parent.subject : of,
    metric: parent.metric ?? only,
    model: parent.model ?? text,
    ttl: life,
    holds: isFitting ? parts.map((part) => ({ ...part, amount: Math.ceil(part.amount / 3) })) : asked,
  };
}

/** Returns the same as the service knows it. */
export function treeInput(
  { holds, ...asked }: AskedModelLease,
  isPlain: boolean,
  subjectId: string,
): LeaseInput {
  return {
    subject: { type: 'user', id: subjectId },
    isPlain: isPlain && holds.length === 1 && holds[0]?.kind === 'amount',
    holds: holds.map((each) => ({ ...each, amount: BigInt(each.amount) * MODEL_UNIT })),
    metric: asked.metric ?? null,
    dimensions: new Map(asked.model === undefined ? [] : [['model', asked.model]]),
    parentId: undefined,
    ttlSeconds: asked.ttl,
  };
}
