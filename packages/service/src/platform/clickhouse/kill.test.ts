import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { startBuiltProcess } from '../../testing/built-process.js';
import { openEmbeddedClickHouse } from './embedded.js';
import { countItems } from './rollups.testing.js';
import { USAGE_ROW_COLUMNS, usageRows } from './usage-row.testing.js';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ROWS_PER_GROUP = 5_000;
const METRICS = ['a', 'b'];
const START = 1_769_903_400;
/** A program that inserts one group after the other, from the first one that was not acknowledged, and prints each. */
const PROJECTOR = `
  import { applyClickHouseMigrations, openEmbeddedClickHouse } from '{dist}platform/clickhouse/index.js';
  const [dataDir, file, columns, rows, first] = process.argv.slice(1);
  const clickhouse = await openEmbeddedClickHouse({ dataDir });
  await applyClickHouseMigrations(clickhouse);
  for (let group = Number(first); ; group++) {
    console.log('begin ' + group);
    await clickhouse.insertRows('usage_events', columns.split(','), { file }, Number(rows), 'g' + group);
  }`;

test('killed in the middle of inserts, nothing acknowledged is lost and nothing counts twice', async () => {
  const file = join(folder, 'rows.bin');
  const rows = Array.from({ length: ROWS_PER_GROUP }, (_, id) => ({
    id,
    occurredAt: START + id,
    metrics: METRICS,
  }));
  writeFileSync(file, usageRows(rows));
  let group = 1;
  // From before anything is written until after the insert, so that kills hit every stage of it.
  for (const killAfterMs of [0, 2, 5, 10, 15, 20, 30, 40]) {
    const args = [folder, file, USAGE_ROW_COLUMNS.join(','), String(ROWS_PER_GROUP), String(group)];
    const projector = startBuiltProcess(PROJECTOR, args);
    await projector.nextLine();
    const begun = [await projector.nextLine()];
    await delay(killAfterMs);
    begun.push(...(await projector.kill()));
    group = Number(begun.at(-1)?.split(' ')[1]);
  }
  // The last killed group is retried, as the projector would.
  const clickhouse = await openEmbeddedClickHouse({ dataDir: folder });
  try {
    await clickhouse.insertRows('usage_events', USAGE_ROW_COLUMNS, { file }, ROWS_PER_GROUP, `g${group}`);
    // The groups contain the same events, so merges may drop repeated rows of usage_events, but never of the sums.
    const items = String(group * ROWS_PER_GROUP * METRICS.length);
    expect(await countItems(clickhouse)).toMatchObject({
      items_1m: items,
      items_15m: items,
      quantity_15m: items,
    });
  } finally {
    await clickhouse.close();
  }
});
