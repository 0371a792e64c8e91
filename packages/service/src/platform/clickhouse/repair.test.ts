import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openEmbeddedClickHouse } from './embedded.js';
import { applyClickHouseMigrations } from './migrate.js';
import type { ClickHouse } from './port.js';
import { forgetLostParts } from './repair.js';
import { countItems } from './rollups.testing.js';
import { USAGE_ROW_COLUMNS, usageRows } from './usage-row.testing.js';

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-repair-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const JANUARY_31 = 1_769_903_400;
const MONTH_S = 86_400 * 28;
const TABLES = ['usage_events', 'usage_rollup'];

/** Inserts two events of different months, so that every table gets two parts. */
function insert(clickhouse: ClickHouse, token: string): Promise<void> {
  const rows = [
    { id: 1, occurredAt: JANUARY_31, metrics: ['a'] },
    { id: 2, occurredAt: JANUARY_31 + MONTH_S, metrics: ['a'] },
  ];
  return clickhouse.insertRows('usage_events', USAGE_ROW_COLUMNS, { bytes: usageRows(rows) }, 2, token);
}

/** Returns the newest part. `202601_4_4_1` contains block 4, which the second insert brought. */
function newestPart(folder: string, month: string): string {
  const parts = readdirSync(folder).filter((name) => name.startsWith(`${month}_`));
  const blockOf = (name: string) => Number(name.split('_')[1]);
  return parts.sort((a, b) => blockOf(b) - blockOf(a))[0] ?? expect.unreachable();
}

async function foldersOf(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.query<{ folder: string }>(
    `SELECT data_paths[1] AS folder FROM system.tables
     WHERE database = currentDatabase() AND name IN {names:Array(String)} ORDER BY indexOf({names:Array(String)}, name)`,
    { names: TABLES },
  );
  return rows.map(({ folder }) => folder);
}

test('a part that lost its name to a kill comes with the retried insert; what is there is not doubled', async () => {
  let clickhouse = await openEmbeddedClickHouse({ dataDir });
  await applyClickHouseMigrations(clickhouse);
  await clickhouse.command('SYSTEM STOP MERGES usage_rollup');
  await insert(clickhouse, 'merged');
  await insert(clickhouse, 'retried');
  // In one table, parts of both inserts are merged, and so have other names than in the log.
  await clickhouse.command('OPTIMIZE TABLE usage_events FINAL');
  const counts = { events: '2', items_1m: '4', items_15m: '4', quantity_15m: '4' };
  expect(await countItems(clickhouse)).toMatchObject(counts);
  const [, folder = ''] = await foldersOf(clickhouse);

  for (const month of ['202601', '202602']) {
    await clickhouse.close();
    rmSync(join(folder, newestPart(folder, month)), { recursive: true });
    clickhouse = await openEmbeddedClickHouse({ dataDir });
    for (const token of ['retried', 'merged', 'retried']) await insert(clickhouse, token);
    expect(await countItems(clickhouse)).toMatchObject(counts);
  }
  await clickhouse.close();
});

test('nothing is forgotten where nothing is lost, or nothing is there yet', () => {
  const folder = join(dataDir, 'clickhouse', 'data');
  expect(existsSync(folder)).toBe(true);
  expect(forgetLostParts(folder)).toBe(0);
  expect(forgetLostParts(join(folder, 'nowhere'))).toBe(0);
});
