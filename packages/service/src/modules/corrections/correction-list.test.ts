import { afterAll, beforeAll, expect, it } from 'vitest';
import { ProjectDb } from '../../platform/postgres/index.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { listCorrections, selectedCorrections } from './correction-store.js';

const CORRECTIONS = 400;
const PARTS = 10;

let test: TestPostgres;
let db: ProjectDb;

/** The id of an event, by its number: parts have even ones only. */
const eventOf = (number: number) => number.toString(16).padStart(32, '0');

beforeAll(async () => {
  test = await createTestPostgres();
  const project = await createProject(test.postgres, 'ten_a', 'prj_a');
  db = new ProjectDb(test.postgres.db, project);
  const { tenantId, projectId } = project;
  await test.postgres.pool.query(
    `insert into usage_corrections (tenant_id, project_id, id, action, status, request, reason, is_applied_at_once,
       created_by, created_at_ms, raw_event_id)
     select '${tenantId}', '${projectId}', 'cor_' || lpad(n::text, 4, '0'), 'void', 'applied', '{}', 'test', true,
       'service', n, case when n > ${CORRECTIONS} then lpad(to_hex(n), 32, '0')::uuid end
     from generate_series(1, ${2 * CORRECTIONS}) n`,
  );
  // Each correction has parts of three events with a gap between them; every tenth one has the same events.
  await test.postgres.pool.query(
    `insert into usage_correction_parts (tenant_id, project_id, correction_id, no, raw_event_ids, former_revisions,
       former_attempts, outcomes)
     select '${tenantId}', '${projectId}', 'cor_' || lpad(n::text, 4, '0'), part, array(
       select lpad(to_hex(1000000 + (n % ${CORRECTIONS / 10}) * 1000 + part * 10 + 2 * event), 32, '0')::uuid
       from generate_series(0, 2) event order by event), '{1,1,1}', '{0,0,0}', ''
     from generate_series(1, ${CORRECTIONS}) n, generate_series(1, ${PARTS}) part`,
  );
  await test.postgres.pool.query('analyze usage_corrections, usage_correction_parts');
});
afterAll(() => test.drop());

const idsOf = async (eventId: string) => {
  const { items } = await listCorrections(db, { eventId }, { limit: 100, offset: 0 });
  return items.map(({ id }) => id);
};

it('lists the corrections that name an event or have it in a part, newest first', async () => {
  expect(await idsOf(eventOf(CORRECTIONS + 7))).toEqual([`cor_0${CORRECTIONS + 7}`]);
  const tenth = Array.from({ length: 10 }, (_, index) => `cor_0${String(365 - index * 40).padStart(3, '0')}`);
  for (const event of [0, 2, 4]) expect(await idsOf(eventOf(1_005_030 + event))).toEqual(tenth);
  for (const event of [-2, 1, 3, 6]) expect(await idsOf(eventOf(1_005_030 + event))).toEqual([]);
});

it('finds them by indexes, whatever a project has corrected', async () => {
  const found = selectedCorrections(db, { eventId: eventOf(1_005_030) });
  const plan = await db.rows<{
    'QUERY PLAN': string;
  }>`explain select c.id ${found} order by c.id desc limit 20`;
  const text = plan.map((line) => line['QUERY PLAN']).join('\n');
  expect(text).toMatch(/usage_corrections_by_event/);
  expect(text).toMatch(/usage_correction_parts_by_events/);
  expect(text).not.toMatch(/Seq Scan/);
});

it('lists replacements without the new content of their event, which a page of them would have in memory', async () => {
  const { tenantId, projectId } = db.scope;
  const request = { filter: null, rules: null, replacement: { rawJson: '{}', subject: null } };
  const insert = (id: string, action: string, asked: object) =>
    test.postgres.pool.query(
      `insert into usage_corrections (tenant_id, project_id, id, action, status, request, reason, is_applied_at_once,
         created_by, created_at_ms) values ($1, $2, $3, $4, 'failed', $5, 'test', true, 'service', 0)`,
      [tenantId, projectId, id, action, JSON.stringify(asked)],
    );
  await insert('cor_a', 'rerate', { ...request, filter: { from: 1, to: 2 }, replacement: null });
  await insert('cor_b', 'replace', request);
  const { items } = await listCorrections(db, { status: 'failed' }, { limit: 2, offset: 0 });
  expect(items.map(({ request: listed }) => listed)).toEqual([
    { filter: null, rules: null },
    { filter: { from: 1, to: 2 }, rules: null, replacement: null },
  ]);
});
