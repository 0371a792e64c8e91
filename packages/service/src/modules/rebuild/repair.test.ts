import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { outdatedViews } from '../../platform/clickhouse/index.js';
import { insertUsageRows, restoreFormerViews, usageItem, usageRow } from '../../testing/index.js';
import { ArchiveDamagedError } from '../archive/index.js';
import { HistoryFixture } from './rebuild.testing.js';
import { repairHistory } from './repair.js';

let fixture: HistoryFixture;
let before: unknown;
beforeEach(async () => {
  fixture = await HistoryFixture.create();
  for (const daysAgo of [75, 40, 0]) {
    await fixture.rate(3, daysAgo);
    await fixture.project();
  }
  before = await fixture.contents();
});
afterEach(() => fixture.drop());

const query = <Row>(sql: string) => fixture.house.clickhouse.query<Row>(sql);
const command = (sql: string) => fixture.house.clickhouse.command(sql);
const repair = () => repairHistory(fixture.deps());

/** Records a later group, as if PostgreSQL had been restored to a time before it. */
const recordLaterGroup = () =>
  command('INSERT INTO recorded_groups SELECT history_id, max(group_no) + 5 FROM recorded_groups GROUP BY 1');

/** Inserts, and repairs until both stores are equal and inserts go on. */
async function expectRepaired(months: number): Promise<void> {
  expect(await repair()).toMatchObject({ months });
  expect(await fixture.contents()).toEqual(before);
  await fixture.rate(2);
  expect(await fixture.project()).toBe(4);
  expect(await fixture.verifyStatus()).toBe('equal');
}

describe('a repair', () => {
  it('changes nothing when both stores are equal', () => expectRepaired(0));

  it('takes out the rows that PostgreSQL does not know after a restore', async () => {
    await recordLaterGroup();
    const rows = [0, 1].map((at) =>
      usageRow({
        ...{ tenantId: 'ten_a', projectId: 'prj_a', occurredAt: fixture.timeOf(40) + at },
        items: [usageItem()],
      }),
    );
    await insertUsageRows(fixture.house.clickhouse, rows);
    expect(await fixture.verifyStatus()).toBe('different');
    await fixture.rate(1);
    await expect(fixture.project()).rejects.toThrow('PostgreSQL is older than ClickHouse');
    // The month of the rows, and that of the waiting batches of both projects.
    expect(await repair()).toMatchObject({ months: 3 });
    expect(await fixture.contents()).toEqual(before);
    expect(await fixture.project()).toBe(2);
    expect(await fixture.verifyStatus()).toBe('equal');
  });

  it('inserts nothing while views are replaced in part', async () => {
    const { clickhouse } = fixture.house;
    const own = `_${fixture.own.projectNo}`;
    await restoreFormerViews(clickhouse, own);
    const [first = '', ...others] = await outdatedViews(clickhouse, [own]);
    await command(first);
    await command(`TRUNCATE TABLE usage_events${own}`);
    await expect(repair()).rejects.toThrow('until tollgate migrate has run');
    for (const other of others) await command(other);
    expect(await repair()).toMatchObject({ months: 3 });
    expect(await fixture.contents()).toEqual(before);
  });

  it('takes out the rows and tables of projects that PostgreSQL does not know', async () => {
    await recordLaterGroup();
    const row = usageRow({ tenantId: 'ten_x', projectId: 'prj_x', occurredAt: fixture.timeOf(75) });
    await insertUsageRows(fixture.house.clickhouse, [row]);
    await command('CREATE TABLE usage_events_9999 AS usage_events');
    await command('INSERT INTO usage_events_9999 SELECT * FROM usage_events LIMIT 1');
    await expectRepaired(1);
    expect(await query(`SELECT name FROM system.tables WHERE name = 'usage_events_9999'`)).toEqual([]);
  });

  it('gives back the rows that a restored ClickHouse lacks', async () => {
    const { projectNo } = fixture.own;
    for (const table of [`usage_events_${projectNo}`, `usage_rollup_${projectNo}`]) {
      await command(`ALTER TABLE ${table} DROP PARTITION ID '202506'`);
    }
    await command('ALTER TABLE usage_rollup DELETE WHERE resolution = 900 SETTINGS mutations_sync = 2');
    await command('TRUNCATE TABLE recorded_groups');
    await expect(fixture.project()).rejects.toThrow('ClickHouse is empty or is another one');
    // Three months of the shared tables, and one of the other ones.
    await expectRepaired(4);
  });

  it('makes everything again in an empty ClickHouse', async () => {
    const tables = await query<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY engine != 'MaterializedView'`,
    );
    for (const { name } of tables) await command(`DROP TABLE ${name} SYNC`);
    await expectRepaired(6);
  });

  it('keeps a group that was inserted and not ended from being inserted twice', async () => {
    await fixture.rate(2);
    fixture.killAfter = 'insert';
    await expect(fixture.project()).rejects.toThrow('killed');
    fixture.killAfter = undefined;
    expect(await repair()).toMatchObject({ months: 2 });
    expect(await fixture.contents()).toEqual(before);
    expect(await fixture.project()).toBe(4);
    expect(await fixture.verifyStatus()).toBe('equal');
  });

  it('refuses to make a month again that has rows without an archive, and changes nothing', async () => {
    await fixture.rate(3);
    expect(await fixture.project(false)).toBe(6);
    await insertUsageRows(fixture.house.clickhouse, [
      usageRow({ tenantId: 'ten_a', projectId: 'prj_a', occurredAt: fixture.timeOf(0) }),
    ]);
    await recordLaterGroup();
    const damaged = await fixture.contents();
    await expect(repair()).rejects.toThrow('The archive lacks 6 events');
    expect(await fixture.contents()).toEqual(damaged);
    await fixture.rate(1);
    await expect(fixture.project()).rejects.toThrow('PostgreSQL is older than ClickHouse');
  });

  it('changes nothing when an object that it needs is damaged', async () => {
    await recordLaterGroup();
    await command("ALTER TABLE usage_events DROP PARTITION ID '202506'");
    const damaged = await fixture.contents();
    for (const name of await readdir(fixture.archived.folder)) {
      await truncate(join(fixture.archived.folder, name), 10);
    }
    await expect(repair()).rejects.toThrow(ArchiveDamagedError);
    expect(await fixture.contents()).toEqual(damaged);
  });

  it('gives up the rows of lost objects if told so, and inserts go on', async () => {
    await recordLaterGroup();
    await command("ALTER TABLE usage_events DROP PARTITION ID '202506'");
    for (const name of await readdir(fixture.archived.folder)) {
      await truncate(join(fixture.archived.folder, name), 10);
    }
    expect(await repairHistory(fixture.deps(), { incomplete: true })).toMatchObject({ months: 1, events: 0 });
    await fixture.rate(2);
    expect(await fixture.project()).toBe(4);
    expect(await fixture.verify()).toMatchObject({ status: 'equal', losses: { days: expect.any(Number) } });
  });
});
