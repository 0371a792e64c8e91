// Floor: rows of usage_events, encoded once, inserted over and over into the embedded ClickHouse, rollups included.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USAGE_EVENT_COLUMNS, UsageBlock } from '../../packages/service/dist/modules/usage/index.js';
import {
  applyClickHouseMigrations,
  openEmbeddedClickHouse,
} from '../../packages/service/dist/platform/clickhouse/index.js';
import { usageRow } from '../usage-row.mjs';

const ROWS = 20_000;

process.once('message', async ({ seconds }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-clickhouse-'));
  const clickhouse = await openEmbeddedClickHouse({ dataDir });
  try {
    await applyClickHouseMigrations(clickhouse);
    const block = new UsageBlock();
    for (let index = 0; index < ROWS; index += 1) block.add(usageRow(index, Date.now()));
    const file = join(dataDir, 'rows.bin');
    writeFileSync(file, Buffer.concat(block.bytes()));
    const startMs = performance.now();
    let inserts = 0;
    while (performance.now() < startMs + seconds * 1000) {
      inserts += 1;
      await clickhouse.insertRows('usage_events', USAGE_EVENT_COLUMNS, { file }, ROWS, `floor-${inserts}`);
    }
    process.send({ eventsPerSecond: (inserts * ROWS * 1000) / (performance.now() - startMs) });
  } finally {
    await clickhouse.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.exit(0);
});
