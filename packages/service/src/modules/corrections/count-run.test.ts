import { afterAll, beforeAll, expect, it } from 'vitest';
import { ProjectDb } from '../../platform/postgres/index.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import type { Counter } from '../counters/index.js';
import type { TotalPrices } from '../rules/index.js';
import type { ChangedPeriod, PeriodCount } from './count.js';
import { itemsWithValues } from './count-run.js';
import { insertCounts } from './counts-store.js';

const QUANTITIES = [3n, 7n, 3n, 3n, 7n];
const VALUES = ['a', 'b', 'a', 'a', undefined];

let test: TestPostgres;
let db: ProjectDb;
beforeAll(async () => {
  test = await createTestPostgres();
  db = new ProjectDb(test.postgres.db, await createProject(test.postgres, 'ten_a', 'prj_a'));
  await test.postgres.pool.query(
    `insert into usage_corrections (tenant_id, project_id, id, action, status, request, reason, is_applied_at_once,
       created_by, created_at_ms) values ('ten_a', 'prj_a', 'cor_a', 'void', 'planning', '{}', 'test', true, 'service', 0)`,
  );
});
afterAll(() => test.drop());

it.each([
  ['unique', [{ value: 'a' }, { value: 'b' }]],
  ['max', [{ quantity: 3n }, { quantity: 7n }]],
  ['sum', []],
] as const)('a period needs each value once, however many items have it: %s', async (aggregate, expected) => {
  const definition = { name: 'c', aggregate, of: 'user', by: [] };
  const counter = { scope: db.scope, definition } as unknown as Counter;
  const period: ChangedPeriod = { counter, key: Buffer.from(aggregate), startS: 0, endS: undefined };
  const counts = QUANTITIES.map((quantity, index): PeriodCount => {
    const eventId = String(index).padStart(32, '0');
    const rule = {} as PeriodCount['count']['rule'];
    return {
      period,
      count: {
        ...{ side: index < 3 ? 'out' : 'in', eventId, item: 0, rule, quantity, value: VALUES[index] },
        ...{ ratedAtMs: 0, before: undefined, after: undefined, amount: 0n, given: 0n },
        ...{ isFailed: false, isKept: false },
      },
    };
  });
  await insertCounts(db, 'cor_a', 0, counts);
  await test.postgres.pool.query(
    `update usage_correction_counts set position = substr(raw_event_id::text, 36)::integer`,
  );
  const prices = {} as TotalPrices;
  const items = await itemsWithValues({ db, correctionId: 'cor_a', prices, verb: 'apply' }, period);
  expect(items).toHaveLength(expected.length);
  expect(items).toMatchObject(expected);
});
