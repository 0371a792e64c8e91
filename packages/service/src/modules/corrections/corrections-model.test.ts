import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { expectAsOracle } from './corrections-model.testing.js';
import { CorrectionsOracle } from './corrections-oracle.testing.js';
import { step } from './corrections-steps.testing.js';
import { CorrectionsProject } from './project.testing.js';
import { SLIDING_STEP_S, USAGE_WINDOW_RULES } from './usage-window-oracle.testing.js';
import { LIMIT_RULES } from './window-oracle.testing.js';

const RUNS = Number(process.env.TOLLGATE_MODEL_RUNS ?? 8);
const STEPS_MAX = 14;
const SEED = Number(process.env.TOLLGATE_MODEL_SEED ?? 7);
const TIMEOUT_MS = 60_000 + RUNS * 15_000;

const fixtures = {} as Record<'shared' | 'dedicated', CorrectionsFixture>;
beforeAll(async () => {
  for (const storage of ['shared', 'dedicated'] as const)
    fixtures[storage] = await CorrectionsFixture.open(storage);
});
afterAll(async () => {
  for (const fixture of Object.values(fixtures)) await fixture.close();
});

/** Creates a project in which two customers have a limit plan, and the third one has no route yet. */
async function started(fixture: CorrectionsFixture): Promise<[CorrectionsProject, CorrectionsOracle]> {
  // Behind the end of a step of sliding windows, and hours before the next one.
  const { clock, nowS } = fixture;
  clock.advanceMs((SLIDING_STEP_S - (nowS % SLIDING_STEP_S) + 60) * 1_000);
  const project = await CorrectionsProject.create(fixture);
  const oracle = new CorrectionsOracle();
  const plan = { name: 'plan', title: 'Plan', rules: [...LIMIT_RULES, ...USAGE_WINDOW_RULES] };
  const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
  await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
  for (const subject of ['c1', 'c2']) {
    oracle.accounts.set(subject, (await project.route(subject, planId)).accountId);
    oracle.windows.subjects.add(subject);
  }
  return [project, oracle];
}

it.each(['shared', 'dedicated'] as const)(
  'shows the last truth of every event, whatever is corrected and whoever dies: %s storage',
  async (storage) => {
    const fixture = fixtures[storage];
    const steps = fc.array(step, { minLength: 6, maxLength: STEPS_MAX, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, async (performed) => {
        const [project, oracle] = await started(fixture);
        for (const one of performed) await one.run(project, oracle);
        await fixture.settle();
        oracle.rate(fixture.nowS);
        await expectAsOracle(project, oracle);
      }),
      { numRuns: storage === 'shared' ? RUNS : Math.ceil(RUNS / 4), seed: SEED, endOnFailure: true },
    );
    const nothing = { difference_count: 0 };
    expect(await fixture.verify()).toMatchObject({
      ...{ status: 'equal', differences: [], ledger: nothing, postings: nothing, quotas: nothing },
    });
    expect(fixture.defects).toEqual([]);
  },
  TIMEOUT_MS,
);
