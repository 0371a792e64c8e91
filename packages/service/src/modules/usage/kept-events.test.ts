import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRef } from '../../kernel/scope.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  failedRow,
  idOf,
  insertUsageRows,
  type TestClickHouse,
  type TestPostgres,
  usageRow,
} from '../../testing/index.js';
import { createUsageHistory, ProjectHistory, storageTables } from '../storage/index.js';
import { listEvents } from './event-list.js';
import { eventDetail } from './event-store.js';
import { eventState, failedEventIds } from './failed-store.js';

const DAY = 20_000;
const DAY_S = 86_400;
const KEPT_S = DAY * DAY_S;

let house: TestClickHouse;
let store: TestPostgres;
let projects: Omit<ProjectRef, 'kind'>[];
/** The last second that is not kept, the first that is, and a failed event on either side. */
const [gone, kept, goneFailed, keptFailed] = [
  usageRow({ occurredAt: KEPT_S - 1 }),
  usageRow({ occurredAt: KEPT_S }),
  failedRow({ occurredAt: KEPT_S - 2 }),
  failedRow({ occurredAt: KEPT_S + 2 }),
];

beforeAll(async () => {
  [house, store] = await Promise.all([createTestClickHouse(), createTestPostgres()]);
  projects = [
    await createProject(store.postgres, 'ten_1', 'prj_shared'),
    await createProject(store.postgres, 'ten_1', 'prj_own', 'dedicated'),
  ];
  for (const project of projects) {
    const { tenantId, projectId, projectNo, storage } = project;
    if (storage === 'dedicated') await house.provision(projectNo);
    const rows = [gone, kept, goneFailed, keptFailed].map((row) => ({ ...row, tenantId, projectId }));
    await insertUsageRows(house.clickhouse, rows, storageTables(project).events);
    const { pool } = store.postgres;
    await pool.query('insert into usage_retention values ($1, $2, $3, 0, $3)', [tenantId, projectId, DAY]);
    for (const row of [goneFailed, keptFailed]) {
      await pool.query(`insert into failed_events values ($1, $2, $3, $4, 0, 'ers_1', 'x', 0, '{}')`, [
        ...[tenantId, projectId, idOf(row), row.occurredAt],
      ]);
    }
  }
});

afterAll(async () => {
  await Promise.all([house.drop(), store.drop()]);
});

it('neither lists, shows nor reprocesses events that are not kept, deleted or not', async () => {
  const history = createUsageHistory({ postgres: store.postgres });
  for (const project of projects) {
    const scope = await history.scopeOf(project);
    const { events, next_cursor } = await listEvents(house.clickhouse, scope, {
      from: 0,
      limit: 10,
      conditions: [],
    });
    expect(events.map(({ occurred_at }) => occurred_at)).toEqual([KEPT_S + 2, KEPT_S]);
    expect(next_cursor).toBeNull();
    expect(await eventDetail(new ProjectHistory(house.clickhouse, scope), idOf(gone))).toBeUndefined();
    expect(await eventDetail(new ProjectHistory(house.clickhouse, scope), idOf(kept))).toMatchObject({
      id: idOf(kept),
    });
    expect(await eventState(new ProjectDb(store.postgres.db, scope), scope, idOf(goneFailed))).toBe('absent');
    expect(await eventState(new ProjectDb(store.postgres.db, scope), scope, idOf(keptFailed))).toBe('failed');
    const range = { from: 0, to: KEPT_S * 2, code: undefined };
    const found: string[] = [];
    for await (const ids of failedEventIds(new ProjectDb(store.postgres.db, scope), scope, range, 10))
      found.push(...ids);
    expect(found).toEqual([idOf(keptFailed)]);
  }
});

it('asks again for a boundary before what it knows is old', async () => {
  let nowMs = 0;
  const history = createUsageHistory({ postgres: store.postgres, monotonicMs: () => nowMs });
  const project = {
    ...(await createProject(store.postgres, 'ten_1', 'prj_raised')),
    kind: 'development',
  } as const;
  expect(await history.scopeOf(project)).toMatchObject({ retainedFrom: 0 });
  await store.postgres.pool.query(`insert into usage_retention values ('ten_1', 'prj_raised', 7, 0, 7)`);
  expect(await history.scopeOf(project)).toMatchObject({ retainedFrom: 0 });
  nowMs = 10_000;
  expect(await history.scopeOf(project)).toMatchObject({ retainedFrom: 7 * DAY_S, storage: 'shared' });
});
