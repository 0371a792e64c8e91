import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { addExcludedDimensions, readExcludedDimensions } from './excluded-dimension-store.js';
import { createUsageHistory, HISTORY_FRESH_MS } from './history.js';

let store: TestPostgres;

beforeAll(async () => {
  store = await createTestPostgres();
});

afterAll(() => store.drop());

it('stores each dimension once, with any characters of a name, and shows readers of history', async () => {
  const project = await createProject(store.postgres, 'ten_1', 'prj_1');
  const { db } = store.postgres;
  let nowMs = 0;
  const history = createUsageHistory({ postgres: store.postgres, monotonicMs: () => nowMs });
  expect((await history.scopeOf(project)).excludedDimensions).toEqual([]);
  const dimension = (name: string) => ({ tenantId: 'ten_1', projectId: 'prj_1', name });
  await addExcludedDimensions(db, [dimension('request'), dimension('request')]);
  await addExcludedDimensions(db, [dimension('request'), dimension('__proto__'), dimension("it's, {a}")]);
  const names = ['__proto__', "it's, {a}", 'request'];
  expect([...(await readExcludedDimensions(db, ['prj_1', 'prj_2']))]).toEqual([['prj_1', expect.anything()]]);
  const known = (await readExcludedDimensions(db, ['prj_1'])).get('prj_1') ?? [];
  expect(known.map(({ name }) => name).sort()).toEqual(names);
  for (const { ageMs } of known) expect(ageMs).toBeGreaterThanOrEqual(0);
  await store.postgres.pool.query(
    "update raw_only_dimensions set added_at_ms = added_at_ms - 5000 where name = 'request'",
  );
  const [request] =
    (await readExcludedDimensions(db, ['prj_1'])).get('prj_1')?.filter(({ name }) => name === 'request') ??
    [];
  expect(request?.ageMs).toBeGreaterThanOrEqual(5_000);
  nowMs = HISTORY_FRESH_MS;
  expect([...(await history.scopeOf(project)).excludedDimensions].sort()).toEqual(names);
});
