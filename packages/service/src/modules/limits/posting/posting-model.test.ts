import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PostingFixture } from './posting.testing.js';
import { PostingOracle } from './posting-oracle.testing.js';
import { step } from './posting-steps.testing.js';

const RUNS = Number(process.env.TOLLGATE_MODEL_RUNS ?? 50);
const STEPS_MAX = 14;
const TIMEOUT_MS = 60_000 + RUNS * 4_000;

let fixture: PostingFixture;

beforeAll(async () => {
  fixture = await PostingFixture.create();
});

afterAll(() => fixture.drop());

it(
  'counts, debits and reports as a plain reading of the rules does',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: STEPS_MAX }), async (steps) => {
        await fixture.reset();
        const oracle = new PostingOracle(fixture.clock);
        for (const one of steps) await one.run(fixture, oracle);
        expect(await fixture.windows()).toEqual(oracle.windows());
        expect(await fixture.wallets()).toEqual(oracle.wallets());
        expect(await fixture.alerts()).toEqual(oracle.alerts());
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);
