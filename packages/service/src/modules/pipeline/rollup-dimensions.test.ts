import { expect, it } from 'vitest';
import { RollupDimensions, type RollupDimensionsOptions } from './rollup-dimensions.js';

const SCOPE = { tenantId: 'ten_1', projectId: 'prj_1' };
const DELAY_MS = 20_000;
const COMBINATIONS_MAX = 50;

/** Rollup dimensions with a store in memory and a clock that the test sets. */
function fixture(options: Partial<RollupDimensionsOptions> = {}, committed: string[] = [], ageMs = DELAY_MS) {
  const clock = { nowMs: 0 };
  const rollup = new RollupDimensions({
    store: {
      load: async (projectIds) => {
        const known = committed.map((name) => ({ name, ageMs }));
        return new Map(projectIds.map((id) => [id, id === 'prj_1' ? known : []]));
      },
      add: async (dimensions) => {
        committed.push(...dimensions.map(({ name }) => name));
      },
    },
    nowMs: () => clock.nowMs,
    delayMs: DELAY_MS,
    combinationsMax: COMBINATIONS_MAX,
    ...options,
  });
  const rate = (values: Record<string, string>, projectId = 'prj_1') =>
    rollup.excludedDimensionsOf(projectId, new Map(Object.entries(values)));
  const rateMany = (from: number, to: number, valuesOf: (i: number) => Record<string, string>) => {
    for (let i = from; i < to; i++) rate(valuesOf(i));
  };
  return { clock, committed, rollup, rate, rateMany };
}

it('leaves out the dimension with the most values, some time after that was committed', async () => {
  const { clock, committed, rollup, rate, rateMany } = fixture();
  const valuesOf = (i: number) => ({ model: `m${i % 3}`, request: `r${i}` });
  await rollup.prepare([SCOPE]);
  rateMany(0, 2 * COMBINATIONS_MAX, valuesOf);
  expect(committed).toEqual([]);
  await rollup.prepare([SCOPE]);
  expect(committed).toEqual(['request']);
  clock.nowMs = DELAY_MS - 1;
  await rollup.prepare([SCOPE]);
  expect(rate(valuesOf(0))).toEqual([]);
  clock.nowMs = DELAY_MS;
  await rollup.prepare([SCOPE]);
  expect(rate(valuesOf(0))).toEqual(['request']);
  expect(rate({ model: 'm0' })).toEqual([]);
  rateMany(0, 10 * COMBINATIONS_MAX, valuesOf);
  await rollup.prepare([SCOPE]);
  expect(committed).toEqual(['request']);
});

it('bounds what several dimensions make together', async () => {
  const { committed, rollup, rateMany } = fixture();
  await rollup.prepare([SCOPE]);
  rateMany(0, 500, (i) => ({ a: `${i % 5}`, b: `${Math.floor(i / 5) % 20}`, c: `${i % 3}` }));
  await rollup.prepare([SCOPE]);
  expect(committed).toEqual(['b']);
});

it('leaves nothing out while combinations are few, however many the events', async () => {
  const { committed, rollup, rateMany } = fixture();
  await rollup.prepare([SCOPE]);
  rateMany(0, 100 * COMBINATIONS_MAX, (i) => ({ model: `m${i % COMBINATIONS_MAX}` }));
  await rollup.prepare([SCOPE]);
  expect(committed).toEqual([]);
});

it('counts again every so many events: a dimension may grow slowly', async () => {
  const { committed, rollup, rateMany } = fixture({ windowEvents: 1_000 });
  await rollup.prepare([SCOPE]);
  rateMany(0, 10_000, (i) => ({ release: `v${Math.floor(i / 100)}` }));
  await rollup.prepare([SCOPE]);
  expect(committed).toEqual([]);
});

it('begins with what is known, and knows nothing of projects it was not prepared for', async () => {
  const { rollup, rate } = fixture({}, ['request']);
  expect(rate({ request: 'r' })).toEqual([]);
  await rollup.prepare([SCOPE, { tenantId: 'ten_1', projectId: 'prj_2' }]);
  expect(rate({ request: 'r' })).toEqual(['request']);
  expect(rate({ request: 'r' }, 'prj_2')).toEqual([]);
  expect(rate({ request: 'r' }, 'prj_3')).toEqual([]);
});

it('waits with what another process has committed only just now: readers may not know it yet', async () => {
  const { clock, committed, rollup, rate, rateMany } = fixture({}, ['request'], 5_000);
  await rollup.prepare([SCOPE]);
  expect(rate({ request: 'r' })).toEqual([]);
  // The dimension is excluded already, and is not decided on again.
  rateMany(0, 2 * COMBINATIONS_MAX, (i) => ({ request: `r${i}` }));
  clock.nowMs = DELAY_MS - 5_001;
  await rollup.prepare([SCOPE]);
  expect(committed).toEqual(['request']);
  expect(rate({ request: 'r' })).toEqual([]);
  clock.nowMs += 1;
  await rollup.prepare([SCOPE]);
  expect(rate({ request: 'r' })).toEqual(['request']);
});

it('tries again to commit what could not be', async () => {
  const added: string[] = [];
  let isDown = true;
  const { rollup, rateMany } = fixture({
    store: {
      load: async () => new Map(),
      add: async (dimensions) => {
        if (isDown) throw new Error('the database is away');
        added.push(...dimensions.map(({ name }) => name));
      },
    },
  });
  await rollup.prepare([SCOPE]);
  rateMany(0, 2 * COMBINATIONS_MAX, (i) => ({ request: `r${i}` }));
  await expect(rollup.prepare([SCOPE])).rejects.toThrow('away');
  isDown = false;
  await rollup.prepare([SCOPE]);
  expect(added).toEqual(['request']);
});

it('leaves nothing out that was decided while others were being committed', async () => {
  const added: string[] = [];
  let meanwhile = () => {};
  const { clock, rollup, rate, rateMany } = fixture({
    store: {
      load: async () => new Map(),
      add: async (dimensions) => {
        added.push(...dimensions.map(({ name }) => name));
        meanwhile();
      },
    },
  });
  await rollup.prepare([SCOPE]);
  rateMany(0, 2 * COMBINATIONS_MAX, (i) => ({ request: `r${i}` }));
  meanwhile = () => rateMany(0, 2 * COMBINATIONS_MAX, (i) => ({ session: `s${i}` }));
  await rollup.prepare([SCOPE]);
  clock.nowMs = DELAY_MS;
  await rollup.prepare([SCOPE]);
  expect(rate({ request: 'r', session: 's' })).toEqual(['request']);
  expect(added).toEqual(['request', 'session']);
});

it('holds a bounded number of projects in mind, and reads the others again', async () => {
  const { rollup, rate } = fixture({ projectsMax: 2 }, ['request']);
  for (const projectId of ['prj_1', 'prj_2', 'prj_3']) {
    await rollup.prepare([{ tenantId: 'ten_1', projectId }]);
  }
  expect(rate({ request: 'r' })).toEqual([]);
  await rollup.prepare([SCOPE]);
  expect(rate({ request: 'r' })).toEqual(['request']);
});
