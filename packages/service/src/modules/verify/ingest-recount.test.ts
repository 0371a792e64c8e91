import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { countIngested } from '../../testing/ingest-totals.js';
import { recountIngest } from './ingest-recount-store.js';

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await createTestPostgres();
  await createProject(postgres.postgres, 'ten_1', 'prj_1');
  await createProject(postgres.postgres, 'ten_1', 'prj_2');
});
beforeEach(async () => {
  await run('delete from usage_event_totals; delete from ingest_totals');
  await run(`insert into usage_event_totals (tenant_id, project_id, day, processed_count, failed_count, voided_count)
    values ('ten_1', 'prj_1', 1, 3, 1, 0), ('ten_1', 'prj_1', 2, 4, 0, 2), ('ten_1', 'prj_2', 2, 5, 0, 0)`);
  await countIngested(postgres.postgres.db);
});
afterAll(() => postgres.drop());

const run = (statement: string) => postgres.postgres.pool.query(statement);
const recount = (differencesMax = 10) => recountIngest(postgres.postgres, differencesMax);

it('finds nothing where each count is the sum over the days', async () => {
  expect(await recount()).toEqual({ projects: 2, difference_count: 0, differences: [] });
});

it('finds every count that was changed', async () => {
  await run(`update ingest_totals set processed_count = 8, failed_count = 2, voided_count = 0, duplicate_count = 9
    where project_id = 'prj_1'`);
  const of = { tenant_id: 'ten_1', project_id: 'prj_1' };
  const differences = [
    { ...of, measure: 'failed_count', expected: '1', found: '2' },
    { ...of, measure: 'processed_count', expected: '7', found: '8' },
    { ...of, measure: 'voided_count', expected: '2', found: '0' },
  ];
  expect(await recount()).toEqual({ projects: 2, difference_count: 3, differences });
  expect(await recount(1)).toEqual({
    projects: 2,
    difference_count: 3,
    differences: differences.slice(0, 1),
  });
});

it('finds a project without counts, and counts without days', async () => {
  await run(`delete from ingest_totals where project_id = 'prj_1'`);
  await run(`delete from usage_event_totals where project_id = 'prj_2'`);
  const { projects, differences } = await recount();
  expect(projects).toBe(2);
  expect(differences.map(({ project_id, expected, found }) => [project_id, expected, found])).toEqual([
    ['prj_1', '1', '0'],
    ['prj_1', '7', '0'],
    ['prj_1', '2', '0'],
    ['prj_2', '0', '5'],
  ]);
});
