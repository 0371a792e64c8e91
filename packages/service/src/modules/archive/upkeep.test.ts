import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { columnList } from '../../platform/clickhouse/index.js';
import { transaction } from '../../platform/postgres/index.js';
import {
  createTestClickHouse,
  createTestPostgres,
  insertUsageRows,
  TestArchive,
  type TestClickHouse,
  type TestPostgres,
  usageRow,
} from '../../testing/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';
import * as store from './block-store.js';
import { removeRows } from './upkeep.js';

const DAY_S = 86_400;
const COLUMNS = columnList(USAGE_EVENT_COLUMNS);

let test: TestPostgres;
let house: TestClickHouse;
let archived: TestArchive;
beforeEach(async () => {
  [test, house, archived] = await Promise.all([
    createTestPostgres(),
    createTestClickHouse(),
    TestArchive.create(),
  ]);
});
afterEach(() => Promise.all([test.drop(), house.drop(), archived.drop()]));

/** Adds a block with one row of each project, which occurred on a day. */
async function addBlock(day: number, projectIds: readonly string[]): Promise<void> {
  const { clickhouse } = house;
  await clickhouse.command('TRUNCATE TABLE usage_events');
  const rows = projectIds.map((projectId) =>
    usageRow({ tenantId: 'ten_a', projectId, occurredAt: day * DAY_S }),
  );
  await insertUsageRows(clickhouse, rows);
  const bytes = await clickhouse.exportRows(`SELECT ${COLUMNS} FROM usage_events`);
  const block = {
    objectKey: await archived.archive.put([bytes]),
    ...{ dedicatedTo: null, eventCount: rows.length, byteCount: bytes.length, level: 0 },
    ...{ projectIds, firstDays: projectIds.map(() => day), lastDay: day },
  };
  await transaction(test.postgres, (tx) => store.insertBlock(tx, block));
}

function remove(kept: readonly store.KeptFrom[]): Promise<number> {
  const { postgres } = test;
  return removeRows({ postgres, clickhouse: house.clickhouse, archive: archived.archive }, kept);
}

const keptFrom = (projectId: string, day: number): store.KeptFrom => ({ projectId, day });

async function blocks(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { projectIds, firstDays } of store.everyBlock(test.postgres.db)) {
    found.push([projectIds, firstDays]);
  }
  return found;
}

describe('the removal of expired rows', () => {
  it('rewrites only blocks with rows of days that are no longer kept', async () => {
    await addBlock(100, ['prj_a', 'prj_b']);
    await addBlock(200, ['prj_a']);
    expect(await remove([keptFrom('prj_a', 150), keptFrom('prj_b', 100)])).toBe(1);
    expect(await blocks()).toEqual([
      [['prj_a'], [200]],
      [['prj_b'], [100]],
    ]);
    expect(await remove([keptFrom('prj_a', 201), keptFrom('prj_b', 100)])).toBe(1);
    expect(await blocks()).toEqual([[['prj_b'], [100]]]);
  });

  it('reads no block while nothing has expired, also after a removal', async () => {
    await addBlock(100, ['prj_a', 'prj_b']);
    await remove([keptFrom('prj_a', 150)]);
    await transaction(test.postgres, async (tx) => {
      await sql`lock table archived_blocks in access exclusive mode`.execute(tx);
      expect(await remove([keptFrom('prj_a', 150), keptFrom('prj_b', 100), keptFrom('prj_c', 500)])).toBe(0);
    });
  });

  it('finds rows of removed days that were added later', async () => {
    await addBlock(100, ['prj_a']);
    const kept = [keptFrom('prj_a', 150)];
    expect(await remove(kept)).toBe(1);
    await addBlock(120, ['prj_a']);
    expect(await remove(kept)).toBe(1);
    expect(await blocks()).toEqual([]);
  });

  it('is not complete when a block with such rows was added while it worked', async () => {
    await addBlock(100, ['prj_a']);
    const kept = [keptFrom('prj_a', 150)];
    const { postgres } = test;
    await transaction(postgres, (tx) => store.recordRemoval(tx, kept));
    expect(await store.expiredProjects(postgres.db, kept)).toEqual(kept);
    expect(await remove(kept)).toBe(1);
    expect(await store.expiredProjects(postgres.db, kept)).toEqual([]);
  });
});
