import { describe, expect, test } from 'vitest';
import type { ClickHouse } from './port.js';
import { USAGE_ROW_COLUMNS, usageRows } from './usage-row.testing.js';

/** Counts charge items in the events themselves and in each resolution of the rollup; all must agree. */
export async function countItems(clickhouse: ClickHouse): Promise<Record<string, string> | undefined> {
  const [counts] = await clickhouse.query<Record<string, string>>(`
    SELECT
      (SELECT count() FROM usage_events) AS events,
      (SELECT sum(length(\`item.metric\`)) FROM usage_events) AS items,
      (SELECT sum(item_count) FROM usage_rollup WHERE resolution = 60) AS items_1m,
      (SELECT sum(item_count) FROM usage_rollup WHERE resolution = 900) AS items_15m,
      (SELECT sum(item_count) FROM usage_rollup WHERE resolution = 3600) AS items_1h,
      (SELECT sum(quantity) FROM usage_rollup WHERE resolution = 900) AS quantity_15m`);
  return counts;
}

const JANUARY_31 = 1_769_903_400; // 2026-01-31 23:50:00
const HOUR_S = 3_600;
const EVENT_COUNT = 300;
const METRICS = ['tokens.in', 'tokens.out'];

/** The counts after `insert`. */
const ONCE = {
  events: '300',
  items: '600',
  items_1m: '600',
  items_15m: '600',
  items_1h: '600',
  quantity_15m: '600',
};

const SYNCHRONIZED = [
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  'min_rows_to_fsync_after_merge = 1',
];
const SINGLE_SETTINGS = [...SYNCHRONIZED, ' non_replicated_deduplication_window = 10000'];
/** Settings of tables with replicas. */
export const REPLICATED_SETTINGS = [
  ...SYNCHRONIZED,
  'min_compressed_bytes_to_fsync_after_fetch = 1',
  ' replicated_deduplication_window = 100000',
  ' replicated_deduplication_window_seconds = 604800',
];

/** Tests the properties that the projector relies on. The tables of usage must be empty. */
export function describeRollups(name: string, open: () => ClickHouse, settings = SINGLE_SETTINGS): void {
  describe(`${name}: a retried insert`, () => {
    // Across the end of a month, so that one insert creates parts in two partitions of every table.
    const rows = Array.from({ length: EVENT_COUNT }, (_, id) => ({
      id,
      occurredAt: JANUARY_31 + (id % 2) * HOUR_S,
      metrics: METRICS,
    }));
    const insert = (token: string) =>
      open().insertRows('usage_events', USAGE_ROW_COLUMNS, { bytes: usageRows(rows) }, EVENT_COUNT, token);

    test('is on disk, with all that follows from it, before it is acknowledged', async () => {
      const tables = await open().query<{ name: string; created: string }>(`
        SELECT name, create_table_query AS created FROM system.tables
        WHERE database = currentDatabase() AND name IN ('usage_events', 'usage_rollup') ORDER BY name`);
      expect(tables.map((table) => table.name)).toEqual(['usage_events', 'usage_rollup']);
      for (const { created } of tables) {
        for (const setting of settings) expect(created).toContain(setting);
      }
    });

    test('counts once, in the events and in all resolutions of the rollup', async () => {
      await insert('g1');
      await insert('g1');
      expect(await countItems(open())).toEqual(ONCE);
    });

    test('brings the rollup what an insert that was cut short did not', async () => {
      // Dropping parts also removes their tokens from the table's log, as if they had never arrived.
      await open().command('TRUNCATE TABLE usage_rollup');
      await insert('g1');
      expect(await countItems(open())).toEqual(ONCE);
    });

    test('has its dimensions and times in the rollup', async () => {
      const found = await open().query(`
        SELECT metric, bucket, dimensions, sum(item_count) AS items, min(first_seen_at) AS first_seen_at
        FROM usage_rollup WHERE resolution = 900 AND dimensions['model'] = 'm0' AND metric = 'tokens.in'
        GROUP BY metric, bucket, dimensions ORDER BY bucket`);
      const row = { metric: 'tokens.in', dimensions: { model: 'm0' }, items: '50' };
      expect(found).toEqual([
        { ...row, bucket: '2026-01-31 23:45:00', first_seen_at: '2026-01-31 23:50:00' },
        { ...row, bucket: '2026-02-01 00:45:00', first_seen_at: '2026-02-01 00:50:00' },
      ]);
    });

    test('of another group is added', async () => {
      await insert('g2');
      const sums = await countItems(open());
      expect(sums).toMatchObject({
        items_1m: '1200',
        items_15m: '1200',
        items_1h: '1200',
        quantity_15m: '1200',
      });
    });
  });
}
