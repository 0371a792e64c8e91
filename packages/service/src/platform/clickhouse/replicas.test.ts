import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ClusterDatabase,
  clusterTitle,
  createClusterDatabase,
  givenCluster,
} from '../../testing/clickhouse-cluster.js';
import { describeClickHouse } from './contract.testing.js';
import { createTableCopy } from './copy.js';
import { applyClickHouseMigrations, checkClickHouseMigrations } from './migrate.js';
import { describeRollups, REPLICATED_SETTINGS } from './rollups.testing.js';
import { USAGE_ROW_COLUMNS, usageRows } from './usage-row.testing.js';

describe.runIf(givenCluster !== undefined)(clusterTitle('the replicas of a cluster'), () => {
  let database: ClusterDatabase;
  beforeAll(async () => {
    database = await createClusterDatabase();
    await applyClickHouseMigrations(database.clickhouse, undefined, ['_7']);
  }, 120_000);
  afterAll(() => database.drop(), 120_000);

  describeClickHouse('on replicas', () => database.clickhouse);
  describeRollups('on replicas', () => database.clickhouse, REPLICATED_SETTINGS);

  test('have all tables replicated, also those of a project, and need no second migration', async () => {
    await createTableCopy(database.clickhouse, '_7');
    await checkClickHouseMigrations(database.clickhouse, ['_7']);
    const engines = await database.clickhouse.query<{ engine: string }>(
      `SELECT DISTINCT engine FROM system.tables WHERE database = currentDatabase() AND match(name, '^(usage_|schema_)')
       AND engine LIKE '%MergeTree'`,
    );
    expect(engines.every(({ engine }) => /^(Replicated|Shared)/.test(engine))).toBe(true);
  });

  test('return a row to an up-to-date read as soon as its insert has returned', async () => {
    for (let id = 0; id < 20; id++) {
      const bytes = usageRows([{ id, occurredAt: 1_769_903_400, metrics: ['a'] }]);
      await database.clickhouse.insertRows('usage_events_7', USAGE_ROW_COLUMNS, { bytes }, 1, `t${id}`);
      const reader = await database.clickhouse.upToDate(['usage_events_7']);
      const found = await reader.query('SELECT count() AS rows FROM usage_events_7');
      expect(found).toEqual([{ rows: String(id + 1) }]);
    }
  });
});
