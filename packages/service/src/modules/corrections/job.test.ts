import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import {
  createProject,
  createTestPostgres,
  type TestPostgres,
  type TestProject,
} from '../../testing/index.js';
import { PlanFailure } from './correction.js';
import { type AdvanceDeps, advanceCorrections, createCorrectionJob } from './job.js';
import { forgetExpired, takeTurn } from './turn-store.js';

const NOW_MS = 1_750_000_000_000;
const DAY_MS = 86_400_000;
/** Ids begin with the second of the event, in hex. */
const OLD = `00000010${'0'.repeat(24)}`;
const NEW = `6850000a${'0'.repeat(24)}`;

let test: TestPostgres;
let project: TestProject;
const clock = new ManualClock(NOW_MS);

beforeAll(async () => {
  test = await createTestPostgres();
  project = await createProject(test.postgres, 'ten_a', 'prj_a');
});
afterAll(() => test.drop());

const rows = async (sql: string, values: readonly unknown[] = []) =>
  (await test.postgres.pool.query(sql, [...values])).rows;

async function insertCorrection(
  id: string,
  status: string,
  plannedAtMs: number | null = null,
  { tenantId, projectId } = project,
): Promise<void> {
  await rows(
    `insert into usage_corrections (tenant_id, project_id, id, action, status, request, reason, is_applied_at_once,
       created_by, created_at_ms, planned_at_ms)
     values ($1, $2, $3, 'void', $4, '{}', 'test', false, 'service', 0, $5)`,
    [tenantId, projectId, id, status, plannedAtMs],
  );
}

async function insertPart(correctionId: string, no: number, ids: readonly string[]): Promise<void> {
  await rows(
    `insert into usage_correction_parts (tenant_id, project_id, correction_id, no, raw_event_ids, former_revisions,
       former_attempts, outcomes)
     values ($1, $2, $3, $4, $5::uuid[], '{1}', '{0}', '')`,
    [project.tenantId, project.projectId, correctionId, no, ids],
  );
}

/** Inserts a counter of a correction with one item of each event. */
async function insertCounts(correctionId: string, ids: readonly string[]): Promise<void> {
  const names = [project.tenantId, project.projectId, correctionId];
  await rows(
    `insert into usage_correction_counters (tenant_id, project_id, correction_id, key, period_start, counter)
     values ($1, $2, $3, '', 0, '{}')`,
    names,
  );
  await rows(
    `insert into usage_correction_counts (tenant_id, project_id, correction_id, key, period_start, side, raw_event_id,
       item, part_no, quantity, rule, rated_at_ms, amount)
     select $1, $2, $3, '', 0, 'in', id, 0, 0, 1, '{}', 0, 1 from unnest($4::uuid[]) as id`,
    [...names, ids],
  );
}

describe('the job of corrections', () => {
  const job = (advanced: () => number, isAlone = false) =>
    createCorrectionJob({
      postgres: test.postgres,
      clock,
      log: { warn: () => {} },
      isAlone,
      advance: async () => advanced(),
    });

  it('advances nothing before a step is due', async () => {
    const { sweep } = job(() => 7);
    expect(await sweep()).toBe(0);
    await insertCorrection('cor_open', 'planning');
    expect(await sweep()).toBe(7);
    await rows(`update usage_corrections set busy_until_ms = $1`, [NOW_MS + 1]);
    expect(await sweep()).toBe(0);
    await rows('delete from usage_corrections');
  });

  it('takes the turn of an ended process at once if no other process works', async () => {
    const [shared, alone] = [job(() => 7), job(() => 7, true)];
    await insertCorrection('cor_open', 'planning');
    const busyUntil = (ms: number) => rows('update usage_corrections set busy_until_ms = $1', [ms]);
    await busyUntil(NOW_MS + 60_000);
    expect(await shared.sweep()).toBe(0);
    // Nothing of a tenant that moves may be written.
    await rows(`insert into tenant_moves values ($1, 'mov_1', 'frozen', 0)`, [project.tenantId]);
    expect(await job(() => 7, true).sweep()).toBe(0);
    await rows('delete from tenant_moves');
    expect(await alone.sweep()).toBe(7);
    // Turns after the start are its own.
    await busyUntil(NOW_MS + 60_000);
    expect(await alone.sweep()).toBe(0);
    await rows('delete from usage_corrections');
  });

  it('waits while a projector of release 0.1.0 runs', async () => {
    const { sweep } = job(() => 7);
    await insertCorrection('cor_open', 'planning');
    await rows(
      `insert into lease_members (owner, kind, expires_at_ms)
       values (gen_random_uuid(), 'projector', (extract(epoch from now()) * 1000)::bigint + 60000)`,
    );
    expect(await sweep()).toBe(0);
    await rows(`update lease_members set release = '0.2.0'`);
    expect(await sweep()).toBe(7);
    await rows(`update lease_members set release = null, expires_at_ms = 0`);
    expect(await sweep()).toBe(7);
    await rows('delete from usage_corrections');
  });

  it('ends plans that were not applied for a week, and deletes their parts and counters', async () => {
    await insertCorrection('cor_old', 'planned', NOW_MS - 7 * DAY_MS - 1);
    await insertCorrection('cor_new', 'planned', NOW_MS - 7 * DAY_MS);
    for (const id of ['cor_old', 'cor_new']) {
      await insertPart(id, 0, [NEW]);
      await insertCounts(id, [NEW]);
    }
    await job(() => 0).sweep();
    expect(await rows('select id, status from usage_corrections order by id')).toEqual([
      { id: 'cor_new', status: 'planned' },
      { id: 'cor_old', status: 'expired' },
    ]);
    for (const table of ['parts', 'counters', 'counts']) {
      const left = await rows(`select correction_id from usage_correction_${table}`);
      expect([table, left]).toEqual([table, [{ correction_id: 'cor_new' }]]);
    }
  });
});

it('a plan whose store is away is tried again', async () => {
  await rows('delete from usage_corrections');
  await insertCorrection('cor_1', 'planning');
  const warnings: unknown[] = [];
  const scopeOf = async () => {
    throw new DomainError('store_unavailable');
  };
  const log = { warn: (...logged: unknown[]) => void warnings.push(logged) };
  const deps = { postgres: test.postgres, clock, log, history: { scopeOf } } as unknown as AdvanceDeps;
  expect(await advanceCorrections(deps)).toBe(1);
  expect(await rows('select status, busy_until_ms > $1 as waits from usage_corrections', [NOW_MS])).toEqual([
    { status: 'planning', waits: true },
  ]);
  expect(warnings).toHaveLength(1);
  await rows('delete from usage_corrections');
});

it('a plan that was deleted during a step that fails stays deleted, and the next correction has its turn', async () => {
  await rows('delete from usage_corrections');
  for (const id of ['cor_1', 'cor_2']) await insertCorrection(id, 'planning');
  const warnings: unknown[] = [];
  const scopeOf = async () => {
    await rows(`update usage_corrections set status = 'expired' where id = 'cor_1'`);
    throw new PlanFailure('rule_set_not_found', 'It is gone.');
  };
  const log = { warn: (...logged: unknown[]) => void warnings.push(logged) };
  const deps = { postgres: test.postgres, clock, log, history: { scopeOf } } as unknown as AdvanceDeps;
  expect(await advanceCorrections(deps)).toBe(2);
  expect(await rows('select id, status from usage_corrections order by id')).toEqual([
    { id: 'cor_1', status: 'expired' },
    { id: 'cor_2', status: 'failed' },
  ]);
  expect(warnings).toEqual([]);
  await rows('delete from usage_corrections');
});

it('tenants take turns, and so do the corrections of a tenant', async () => {
  const other = await createProject(test.postgres, 'ten_b', 'prj_b');
  for (const id of ['cor_a1', 'cor_a2']) await insertCorrection(id, 'planning');
  await insertCorrection('cor_b', 'planning', null, other);
  const turns: (string | undefined)[] = [];
  for (let at = 1; at <= 6; at++) turns.push((await takeTurn(test.postgres, NOW_MS + at, 0))?.id);
  expect(turns).toEqual(['cor_a1', 'cor_b', 'cor_a2', 'cor_b', 'cor_a1', 'cor_b']);
  // Nobody else takes a correction during its turn.
  expect((await takeTurn(test.postgres, NOW_MS + 7, 1_000))?.id).toBe('cor_a2');
  expect((await takeTurn(test.postgres, NOW_MS + 8, 1_000))?.id).toBe('cor_b');
  expect((await takeTurn(test.postgres, NOW_MS + 9, 1_000))?.id).toBe('cor_a1');
  expect(await takeTurn(test.postgres, NOW_MS + 10, 1_000)).toBeUndefined();
  await rows('delete from usage_corrections');
});

describe('events whose history was deleted', () => {
  it('are forgotten, and so are parts that have only such events', async () => {
    await rows('delete from usage_corrections');
    await insertCorrection('cor_new', 'applied');
    await insertPart('cor_new', 0, [OLD]);
    await insertPart('cor_new', 1, [OLD, NEW]);
    for (const id of [OLD, NEW]) {
      await rows(`insert into usage_event_revisions values ($1, $2, $3, 2, 'cor_new')`, [
        project.tenantId,
        project.projectId,
        id,
      ]);
    }
    const keptFrom = [{ projectId: project.projectId, firstId: `60000000${'0'.repeat(24)}` }];
    expect(await forgetExpired(test.postgres, keptFrom, 10)).toBe(1);
    expect(await rows('select no from usage_correction_parts')).toEqual([{ no: 1 }]);
    const left = await rows(`select encode(uuid_send(raw_event_id), 'hex') as id from usage_event_revisions`);
    expect(left).toEqual([{ id: NEW }]);
    expect(await forgetExpired(test.postgres, [], 10)).toBe(0);
  });

  it('have charge items in counters, which are forgotten until none is left', async () => {
    await rows('delete from usage_corrections');
    await insertCorrection('cor_new', 'applied');
    const old = Array.from({ length: 5 }, (_, index) => `0000001${index}${'0'.repeat(24)}`);
    await insertCounts('cor_new', [...old, NEW]);
    const keptFrom = [{ projectId: project.projectId, firstId: `60000000${'0'.repeat(24)}` }];
    const numbers: number[] = [];
    for (let sweep = 0; sweep < 4; sweep++) numbers.push(await forgetExpired(test.postgres, keptFrom, 2));
    expect(numbers).toEqual([2, 2, 1, 0]);
    expect(
      await rows(`select encode(uuid_send(raw_event_id), 'hex') as id from usage_correction_counts`),
    ).toEqual([{ id: NEW }]);
  });

  it('leave the counters of a correction until none of its events is kept', async () => {
    await rows('delete from usage_corrections');
    for (const [id, status] of [
      ['cor_old', 'applied'],
      ['cor_new', 'applied'],
      ['cor_open', 'reverting'],
    ] as const) {
      await insertCorrection(id, status);
      await insertPart(id, 0, [OLD]);
      await insertCounts(id, [OLD]);
    }
    await insertPart('cor_new', 1, [OLD, NEW]);
    const keptFrom = [{ projectId: project.projectId, firstId: `60000000${'0'.repeat(24)}` }];
    expect(await forgetExpired(test.postgres, keptFrom, 10)).toBe(3);
    expect(await rows('select correction_id from usage_correction_counters order by correction_id')).toEqual([
      { correction_id: 'cor_new' },
      { correction_id: 'cor_open' },
    ]);
  });
});
