import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { availableParallelism, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holdsWithin } from '../wait.js';
import { textRows } from './blocks.testing.js';
import { describeClickHouse } from './contract.testing.js';
import { openEmbeddedClickHouse } from './embedded.js';
import { isClickHouseUnavailable } from './errors.js';
import { applyClickHouseMigrations } from './migrate.js';
import { type ClickHouse, DEFAULT_LIMITS } from './port.js';
import { describeRollups } from './rollups.testing.js';

// Braces, which the engine would expand in the name of a file to insert.
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-{a,b}-'));
const ENDLESS = 'SELECT sum(sipHash64(number)) AS s FROM numbers(1000000000000)';
/** Far fewer than the engine's own 128 threads for deleting parts would keep, three each. */
const MORE_DESCRIPTORS_MAX = 64;
let clickhouse: ClickHouse;
beforeAll(async () => {
  clickhouse = await openEmbeddedClickHouse({ dataDir });
  await applyClickHouseMigrations(clickhouse);
});
afterAll(async () => {
  await clickhouse.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describeClickHouse('embedded', () => clickhouse);
describeRollups('embedded', () => clickhouse);

describe('embedded only', () => {
  test('a second opening in the process is refused in one sentence', async () => {
    await expect(openEmbeddedClickHouse({ dataDir: tmpdir() })).rejects.toThrow(
      'already has ClickHouse open',
    );
  });

  test('a query runs on as many threads as it may, though memory is bounded', async () => {
    const plan = await clickhouse.query<{ explain: string }>(
      'EXPLAIN PIPELINE SELECT sum(number) FROM numbers_mt(100000000)',
    );
    expect(plan.map(({ explain }) => explain.trim())).toContain('AggregatingTransform × 2');
  });

  test('a query is ended by its signal at once, whether it runs or waits, and then the next one runs', async () => {
    const running = new AbortController();
    const waiting = new AbortController();
    const endless = clickhouse.query(ENDLESS, {}, { signal: running.signal });
    const create = 'CREATE TABLE never_begun (n UInt64) ENGINE = Memory';
    const behind = clickhouse.query(create, {}, { signal: waiting.signal });
    const reason = new Error('nobody waits for it');
    waiting.abort(reason);
    await expect(behind).rejects.toBe(reason);
    running.abort(reason);
    await expect(endless).rejects.toBe(reason);
    const found = await clickhouse.query("SELECT count() AS n FROM system.tables WHERE name = 'never_begun'");
    expect(found).toEqual([{ n: '0' }]);
    const late = clickhouse.query('SELECT 1', {}, { signal: AbortSignal.abort(reason) });
    await expect(late).rejects.toBe(reason);
  });

  test.each<[string, string]>([
    ['fails', 'SELECT toString(throwIf(number = 3)) AS secret FROM numbers(10) SETTINGS max_block_size = 1'],
    [
      'takes too long',
      `SELECT toString(number + sleepEachRow(0.1)) AS secret FROM numbers(100)
       SETTINGS max_block_size = 1, max_execution_time = 1`,
    ],
  ])('rows that a query has returned before it %s reach nobody', async (_, sql) => {
    const failed = expect(clickhouse.query(sql)).rejects.toThrow();
    const next = clickhouse.query('SELECT 7 AS own');
    await failed;
    expect(await next).toEqual([{ own: 7 }]);
    expect(await clickhouse.query('SELECT 8 AS own')).toEqual([{ own: 8 }]);
  });

  test('rows that a query has returned before it is ended reach nobody', async () => {
    const stop = new AbortController();
    const sql = `SELECT toString(number + sleepEachRow(0.05)) AS secret FROM numbers(1000) SETTINGS max_block_size = 1`;
    const ended = expect(clickhouse.query(sql, {}, { signal: stop.signal })).rejects.toThrow('enough');
    const next = clickhouse.query('SELECT 7 AS own');
    // By then rows have been returned.
    const seen = `SELECT throwIf(max(read_rows) < 3) FROM system.processes WHERE query LIKE '%AS secret%'
      AND query NOT LIKE '%system.processes%'`;
    const hasAnswered = () =>
      clickhouse.command(seen).then(
        () => true,
        () => false,
      );
    expect(await holdsWithin(hasAnswered, 10_000)).toBe(true);
    stop.abort(new Error('enough'));
    await ended;
    expect(await next).toEqual([{ own: 7 }]);
  });

  test('queries stay bounded, whatever became of those before', async () => {
    const names = ['max_memory_usage', 'max_threads', 'max_execution_time', 'session_timezone'];
    const bounds = () =>
      clickhouse.query(
        `SELECT ${names.map((name) => `toString(getSetting('${name}')) AS ${name}`).join(', ')}`,
      );
    const before = await bounds();
    expect(before).toEqual([
      {
        max_memory_usage: String(DEFAULT_LIMITS.queryMemoryBytesMax),
        max_threads: String(DEFAULT_LIMITS.queryThreadsMax),
        max_execution_time: String(DEFAULT_LIMITS.executionSecondsMax),
        session_timezone: 'UTC',
      },
    ]);
    await expect(clickhouse.query('SELECT throwIf(1)')).rejects.toThrow();
    await expect(clickhouse.query('SELEC')).rejects.toThrow();
    await clickhouse.query('SELECT 1 SETTINGS max_threads = 1, max_execution_time = 1');
    const stop = new AbortController();
    const endless = clickhouse.query(ENDLESS, {}, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(endless).rejects.toThrow('enough');
    expect(await bounds()).toEqual(before);
  });

  test.runIf(process.platform === 'linux')('merges yield to everything else, on few threads', async () => {
    const [setting] = await clickhouse.query<{ value: string }>(
      "SELECT value FROM system.server_settings WHERE name = 'background_pool_size'",
    );
    const count = Number(setting?.value);
    expect(count).toBeLessThanOrEqual(Math.max(1, availableParallelism() / 2));
    const threads = '/proc/self/task';
    const nameOf = (id: string) => {
      try {
        return readFileSync(`${threads}/${id}/comm`, 'utf8');
      } catch {
        return 'ended meanwhile';
      }
    };
    const merging = readdirSync(threads).filter((id) => nameOf(id).startsWith('MergeMutate'));
    expect(merging.map((id) => getPriority(Number(id)))).toEqual(Array(count).fill(19));
  });

  test.runIf(process.platform === 'linux')(
    'deleting more than a hundred parts at once leaves few threads and file descriptors behind',
    async () => {
      await clickhouse.command('CREATE TABLE parts (n UInt16) ENGINE = MergeTree PARTITION BY n ORDER BY n');
      await clickhouse.command(
        'INSERT INTO parts SELECT number FROM numbers(130) SETTINGS max_partitions_per_insert_block = 0',
      );
      const held = () => readdirSync('/proc/self/fd').length;
      const before = held();
      await clickhouse.command('TRUNCATE TABLE parts');
      expect(held() - before).toBeLessThan(MORE_DESCRIPTORS_MAX);
    },
  );

  test('a long query, and those that wait for it, hold up no insert and no file; closing ends it, is harmless twice, and the data stays', async () => {
    await clickhouse.command('CREATE TABLE beside (text String) ENGINE = MergeTree ORDER BY text');
    const endless = clickhouse.query(ENDLESS);
    const waiting = Array.from({ length: 6 }, () => clickhouse.query('SELECT 1'));
    const closed = Promise.all(
      waiting.map((query) => expect(query).rejects.toSatisfy(isClickHouseUnavailable)),
    );
    // While it runs or before: the insert may end before the query begins.
    const ended = expect(endless).rejects.toThrow(/cancelled|killed in pending state/);
    await clickhouse.insertRows('beside', ['text'], { bytes: textRows('text', ['a']) }, 1, 'beside-1');
    // Queries that wait behind it must not block the threads on which files are written.
    await writeFile(join(dataDir, 'beside'), '');
    await Promise.all([ended, closed, clickhouse.close()]);
    await clickhouse.close();
    await expect(clickhouse.query('SELECT 1')).rejects.toSatisfy(isClickHouseUnavailable);

    clickhouse = await openEmbeddedClickHouse({ dataDir });
    expect(await clickhouse.query('SELECT count() AS n FROM beside')).toEqual([{ n: '1' }]);
    expect(await applyClickHouseMigrations(clickhouse)).toEqual([]);
  });
});
