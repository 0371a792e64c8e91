import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { MigrationError, readMigrations } from '../migration-files.js';
import { createTableCopy } from './copy.js';
import { applyClickHouseMigrations } from './migrate.js';
import { replicatedStatement } from './replicated-statement.js';

const OWN = { name: 'usage-1', isCloud: false, replicas: 3 };
const CLOUD = { name: 'default', isCloud: true, replicas: 3 };
const REPLICA = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`;
const WINDOW = 'replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800';

/** All statements that set up a new installation with a project of its own tables. */
async function statementsOfAll(): Promise<string[]> {
  const statements: string[] = [];
  const recorder = {
    command: async (sql: string) => {
      statements.push(sql.trim());
    },
    query: async () => [],
  } as unknown as TestClickHouse['clickhouse'];
  await applyClickHouseMigrations(recorder);
  await createTableCopy(recorder, '_7');
  return statements;
}

describe('a statement for a single server, on a cluster', () => {
  test.each([
    [
      'CREATE TABLE IF NOT EXISTS t (n Int8) ENGINE = MergeTree ORDER BY n',
      `CREATE TABLE IF NOT EXISTS t ON CLUSTER 'usage-1' (n Int8) ENGINE = ReplicatedMergeTree(${REPLICA}) ORDER BY n SETTINGS replicated_deduplication_window = 0`,
    ],
    [
      'CREATE TABLE t (n Int8) ENGINE = SummingMergeTree((a, b)) ORDER BY n SETTINGS index_granularity = 2048',
      `CREATE TABLE t ON CLUSTER 'usage-1' (n Int8) ENGINE = ReplicatedSummingMergeTree(${REPLICA}, (a, b)) ORDER BY n SETTINGS replicated_deduplication_window = 0, index_granularity = 2048`,
    ],
    [
      'CREATE TABLE t (n Int8) ENGINE=ReplacingMergeTree(n) ORDER BY n SETTINGS non_replicated_deduplication_window = 10, fsync_after_insert = 1',
      `CREATE TABLE t ON CLUSTER 'usage-1' (n Int8) ENGINE = ReplicatedReplacingMergeTree(${REPLICA}, n) ORDER BY n SETTINGS min_compressed_bytes_to_fsync_after_fetch = 1, ${WINDOW}, fsync_after_insert = 1`,
    ],
    [
      'CREATE TABLE t AS other ENGINE = MergeTree ORDER BY tuple()',
      `CREATE TABLE t ON CLUSTER 'usage-1' AS other ENGINE = ReplicatedMergeTree(${REPLICA}) ORDER BY tuple() SETTINGS replicated_deduplication_window = 0`,
    ],
    [
      'CREATE MATERIALIZED VIEW IF NOT EXISTS v TO t AS SELECT 1',
      `CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER 'usage-1' TO t AS SELECT 1`,
    ],
    [
      'CREATE OR REPLACE MATERIALIZED VIEW v TO t AS SELECT 1',
      `CREATE OR REPLACE MATERIALIZED VIEW v ON CLUSTER 'usage-1' TO t AS SELECT 1`,
    ],
    ['CREATE OR REPLACE VIEW v AS SELECT 1', `CREATE OR REPLACE VIEW v ON CLUSTER 'usage-1' AS SELECT 1`],
    [
      'ALTER TABLE t ADD COLUMN IF NOT EXISTS m String AFTER n',
      `ALTER TABLE t ON CLUSTER 'usage-1' ADD COLUMN IF NOT EXISTS m String AFTER n`,
    ],
    [
      'ALTER TABLE t MODIFY SETTING non_replicated_deduplication_window = 5',
      `ALTER TABLE t ON CLUSTER 'usage-1' MODIFY SETTING ${WINDOW}`,
    ],
    ['DROP TABLE IF EXISTS `t_7` SYNC', `DROP TABLE IF EXISTS \`t_7\` ON CLUSTER 'usage-1' SYNC`],
  ])('is done by all replicas: %s', (statement, expected) =>
    expect(replicatedStatement(statement, OWN)).toBe(expected),
  );

  test.each([
    `ALTER TABLE \`t\` DROP PARTITION ID '202601'`,
    'ALTER TABLE t DELETE WHERE n = 1 SETTINGS mutations_sync = 0',
    `ALTER TABLE t DELETE IN PARTITION ID '202601' WHERE n = 1`,
    'INSERT INTO t SELECT 1',
    'TRUNCATE TABLE t',
  ])('stays as it is where the log of the table brings it to all replicas: %s', (statement) =>
    expect(replicatedStatement(statement, OWN)).toBe(statement),
  );

  test.each([
    'CREATE TABLE t (n Int8) ENGINE = Memory',
    'CREATE TABLE t (n Int8) ORDER BY n',
    `CREATE TABLE t (n Int8) ENGINE = ReplicatedMergeTree('/t', 'r') ORDER BY n`,
    'CREATE TABLE t (n Int8) ENGINE = SummingMergeTree((a, (b, c))) ORDER BY n',
    'CREATE OR REPLACE TABLE t (n Int8) ENGINE = MergeTree ORDER BY n',
    'CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY n AS SELECT 1 AS n',
    'CREATE DICTIONARY d (n Int8) PRIMARY KEY n',
    'ALTER TABLE t ATTACH PARTITION 1',
    'ALTER TABLE v MODIFY QUERY SELECT 1',
    'DROP TABLE IF EXISTS t',
    'RENAME TABLE a TO b',
    'EXCHANGE TABLES a AND b',
    'SYSTEM STOP MERGES t',
  ])('is refused if nothing says how: %s', (statement) => {
    for (const cluster of [OWN, CLOUD])
      expect(() => replicatedStatement(statement, cluster)).toThrow(MigrationError);
  });

  test('is almost unchanged in ClickHouse Cloud, which replicates by itself', () => {
    expect(
      replicatedStatement(
        'CREATE TABLE t (n Int8) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 9',
        CLOUD,
      ),
    ).toBe(`CREATE TABLE t (n Int8) ENGINE = MergeTree ORDER BY n SETTINGS ${WINDOW}`);
    const alter = 'ALTER TABLE t ADD COLUMN IF NOT EXISTS m String';
    expect(replicatedStatement(alter, CLOUD)).toBe(alter);
  });
});

describe('every migration, also for dedicated tables', () => {
  let store: TestClickHouse;
  beforeAll(async () => {
    store = await createTestClickHouse();
  });
  afterAll(() => store.drop());

  test('can be rewritten, and is parsed by the engine', async () => {
    const statements = await statementsOfAll();
    expect(statements.length).toBeGreaterThan(2 * readMigrations('clickhouse').length);
    for (const cluster of [OWN, CLOUD]) {
      for (const statement of statements.filter((each) => !each.startsWith('INSERT'))) {
        const replicated = replicatedStatement(statement, cluster);
        expect(replicated).not.toContain('non_replicated_deduplication_window');
        expect(replicated.includes(' ON CLUSTER ')).toBe(!cluster.isCloud);
        // Throws an error of the parser for a statement that is not valid.
        const parsed = await store.clickhouse.query('SELECT formatQuery({sql:String}) AS text', {
          sql: replicated,
        });
        expect(parsed).toHaveLength(1);
      }
    }
  });

  test('gives every table arguments and settings that the engine accepts: it only lacks Keeper', async () => {
    await store.clickhouse.command('DROP TABLE usage_rollup_view SYNC');
    const creations = (await statementsOfAll()).filter((statement) => statement.startsWith('CREATE TABLE'));
    expect(creations.length).toBeGreaterThan(3);
    for (const statement of creations) {
      const [name = ''] = /(?<=EXISTS )\w+/.exec(statement) ?? [];
      await store.clickhouse.command(`DROP TABLE IF EXISTS ${name} SYNC`);
      const alone = replicatedStatement(statement, OWN).replace(` ON CLUSTER 'usage-1'`, '');
      await expect(store.clickhouse.command(alone)).rejects.toMatchObject({ type: 'NO_ZOOKEEPER' });
    }
  });
});
