import { afterEach, beforeEach, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import {
  correctedRows,
  insertUsageRows,
  restoreFormerViews,
  type TestProject,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import { archiveForeignRows } from '../archive/index.js';
import { storageTables } from '../storage/index.js';
import { UsageBlock, type UsageEventRow } from '../usage/index.js';
import { rebuildHistory } from './rebuild.js';
import { HistoryFixture } from './rebuild.testing.js';
import { repairHistory } from './repair.js';

let fixture: HistoryFixture;
beforeEach(async () => {
  fixture = await HistoryFixture.create();
  for (const project of [fixture.pipeline.project, fixture.own]) await addCorrections(project);
});
afterEach(() => fixture.drop());

const query = <Row>(sql: string) => fixture.house.clickhouse.query<Row>(sql);

/** Puts rows into ClickHouse and into the archive. */
async function insert(project: TestProject, rows: readonly UsageEventRow[]): Promise<void> {
  await insertUsageRows(fixture.house.clickhouse, rows, storageTables(project).events);
  const block = new UsageBlock();
  for (const row of rows) block.add(row);
  const foreign = { project, rows: Buffer.concat(block.bytes()), eventCount: rows.length };
  const record = await archiveForeignRows(fixture.archived.archive, foreign);
  await transaction(fixture.pipeline.postgres, record);
}

/** Adds events in two months; one of each is voided, one is rated anew, and one is not corrected. */
async function addCorrections(project: TestProject): Promise<void> {
  const { tenantId, projectId } = project;
  for (const daysAgo of [40, 0]) {
    const rows = [0, 1, 2].map((at) =>
      usageRow({ tenantId, projectId, occurredAt: fixture.timeOf(daysAgo) + at }),
    );
    const [voided, anew] = rows as [UsageEventRow, UsageEventRow];
    const corrections = [
      voidedRows(voided),
      correctedRows(anew, { items: [usageItem({ metric: 'other' })] }),
    ];
    await insert(project, rows);
    await insert(
      project,
      corrections.flatMap(({ reversal, next }) => [reversal, next]),
    );
  }
}

/** Returns how many charge items of each metric there are in each resolution of both rollups. */
async function itemCounts(): Promise<unknown> {
  const tables = ['usage_rollup', `usage_rollup_${fixture.own.projectNo}`];
  return Promise.all(
    tables.map((table) =>
      query(`SELECT resolution, metric, sum(item_count) AS items FROM ${table} GROUP BY ALL ORDER BY ALL`),
    ),
  );
}

const COUNTS = [60, 900, 3_600].flatMap((resolution) => [
  { resolution, metric: 'llm.tokens', items: '2' },
  { resolution, metric: 'other', items: '2' },
]);

it('rebuilds each revision and reversal row, and counts of the rollup without voided items', async () => {
  const before = await fixture.contents();
  expect(await itemCounts()).toEqual([COUNTS, COUNTS]);
  for (const suffix of ['', `_${fixture.own.projectNo}`])
    await restoreFormerViews(fixture.house.clickhouse, suffix);
  expect(await rebuildHistory(fixture.deps())).toMatchObject({ events: 28 });
  expect(await fixture.contents()).toEqual(before);
  expect(await itemCounts()).toEqual([COUNTS, COUNTS]);
  const views = await query(`SELECT name FROM system.tables WHERE database = currentDatabase()
    AND engine = 'MaterializedView'`);
  expect(views).toHaveLength(2);
});

it('repairs months by the same rows', async () => {
  const before = await fixture.contents();
  await fixture.house.clickhouse.command(
    'ALTER TABLE usage_events DELETE WHERE is_counter SETTINGS mutations_sync = 2',
  );
  await repairHistory(fixture.deps());
  expect(await fixture.contents()).toEqual(before);
});

it('drops the views of projects that do not exist', async () => {
  const { clickhouse } = fixture.house;
  await fixture.pipeline.postgres.pool.query('delete from archived_blocks');
  await fixture.pipeline.postgres.pool.query(`delete from projects where id = 'prj_own'`);
  await repairHistory({ ...fixture.deps(), clickhouse });
  expect(
    await query(`SELECT name FROM system.tables WHERE database = currentDatabase()
      AND endsWith(name, '_${fixture.own.projectNo}')`),
  ).toEqual([]);
});
