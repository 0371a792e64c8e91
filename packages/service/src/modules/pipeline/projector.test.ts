import { appendFile, mkdtemp, readdir, rm, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import {
  batchRecord,
  createProject,
  createTestClickHouse,
  createTestPostgres,
  idHexOf,
  reprocessRecord,
  type TestClickHouse,
  type TestPostgres,
  type TestProject,
  testEvent,
  testRules,
  waitFor,
} from '../../testing/index.js';
import { createWorkerCatalog } from '../limits/index.js';
import type { BatchStage, ProjectionStage } from './observer.js';
import { createProjector, type Projector, type ProjectorDeps } from './projector.js';
import { createColumnSpool, createFileSpool, type Spool } from './spool.js';
import { createPipelineWorker } from './worker.js';

const CORRUPT_RETRY_MS = 60_000;

describe('projector', () => {
  let test: TestPostgres;
  let house: TestClickHouse;
  let project: TestProject;
  let folder: string;
  let spool: Spool;
  let clock: ManualClock;
  let isMended: boolean;
  let killAfter: BatchStage | ProjectionStage | undefined;
  let corrupt: string[];
  let failures: unknown[];
  let keys: number;

  beforeEach(async () => {
    [test, house] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    project = await createProject(test.postgres, 'ten_a', 'prj_a');
    folder = await mkdtemp(join(tmpdir(), 'tollgate-spool-'));
    spool = await createFileSpool(folder);
    clock = new ManualClock(1_750_000_100_000);
    [isMended, killAfter, corrupt, failures, keys] = [false, undefined, [], [], 0];
  });

  afterEach(async () => {
    await Promise.all([test.drop(), house.drop()]);
    await rm(folder, { recursive: true });
  });

  const observer = {
    stage: (stage: BatchStage | ProjectionStage) => {
      if (stage === killAfter) throw new Error(`killed after ${stage}`);
    },
    batch: () => {},
    group: () => {},
    batchFailed: (error: unknown) => failures.push(error),
    groupFailed: (error: unknown) => failures.push(error),
    spoolCorrupt: ({ spoolFile }: { spoolFile: string }) => corrupt.push(spoolFile),
    defect: () => {},
  };

  function projector(clickhouse: ProjectorDeps['clickhouse'] = house.clickhouse): Projector {
    return createProjector({ postgres: test.postgres, clickhouse, spool, clock, observer });
  }

  /** Commits one batch of `count` new events, the last of them failed. */
  async function rateBatch(count: number): Promise<void> {
    const queue = new PostgresSegmentQueue(test.postgres);
    const events = Array.from({ length: count }, (_, index) =>
      testEvent(`k${keys++}`, index === count - 1 ? { raw_json: {} } : {}),
    );
    await queue.append([batchRecord(project, events)]);
    await worker().drain();
  }

  function worker() {
    const queue = new PostgresSegmentQueue(test.postgres);
    const rules = testRules(() => isMended);
    return createPipelineWorker({
      postgres: test.postgres,
      queue,
      spool,
      rules,
      limits: createWorkerCatalog(),
      clock,
      observer,
      onCommitted: () => {},
    });
  }

  const waiting = async () => (await test.postgres.pool.query('select from usage_batches')).rowCount;

  async function expectProjected(): Promise<void> {
    expect(await waiting()).toBe(0);
    expect(await readdir(folder)).toEqual([]);
    const { rows } = await test.postgres.pool.query(
      `select (select sum(processed_count)::int from usage_event_totals) as processed,
        (select sum(failed_count)::int from usage_event_totals) as failed,
        sum(item_count)::int as items, sum(quantity) as quantity, sum(amount) as amount, sum(cost) as cost
        from usage_totals`,
    );
    const [totals] = rows;
    const events = `(select * from usage_events final)`;
    expect(
      await house.clickhouse.query(
        `select toInt32(countIf(status = 'processed')) as processed, toInt32(countIf(status = 'failed')) as failed,
          toInt32(sum(length(item.metric))) as items, toString(sum(arraySum(item.quantity))) as quantity,
          toString(sum(arraySum(item.amount))) as amount, toString(sum(arraySum(item.cost_amount))) as cost from ${events}`,
      ),
    ).toEqual([totals]);
    for (const resolution of [60, 900]) {
      const { items, quantity, amount, cost } = totals;
      expect(
        await house.clickhouse.query(
          `select toInt32(sum(item_count)) as items, toString(sum(quantity)) as quantity,
            toString(sum(amount)) as amount, toString(sum(cost)) as cost from usage_rollup where resolution = ${resolution}`,
        ),
      ).toEqual([{ items, quantity, amount, cost }]);
    }
    // Not only after merging: a repeated insert must not have left a second copy to be merged away.
    expect(await house.clickhouse.query('select toInt32(count()) as rows from usage_events')).toEqual([
      { rows: totals.processed + totals.failed },
    ]);
  }

  it('copies batches into ClickHouse, as one group while they are small', async () => {
    const groups: number[] = [];
    await rateBatch(3);
    await rateBatch(2);
    await createProjector({
      postgres: test.postgres,
      clickhouse: house.clickhouse,
      spool,
      clock,
      observer: { ...observer, group: (events) => groups.push(events) },
    }).drain();
    expect(groups).toEqual([5]);
    await expectProjected();
  });

  it('takes rows from the database where they are not in files', async () => {
    spool = createColumnSpool();
    await rateBatch(3);
    await rateBatch(2);
    await projector().drain();
    await expectProjected();
  });

  it('replaces the failed row of an event that was rated again', async () => {
    const failing = testEvent('bad', { raw_json: {} });
    const queue = new PostgresSegmentQueue(test.postgres);
    await queue.append([batchRecord(project, [failing])]);
    await worker().drain();
    await projector().drain();
    isMended = true;
    await queue.append([reprocessRecord(project, [idHexOf(project, failing)])]);
    await worker().drain();
    await projector().drain();
    expect(
      await house.clickhouse.query(
        'select toInt32(attempt) as attempt, status, source, item.amount as amounts from usage_events final',
      ),
    ).toEqual([{ attempt: 1, status: 'processed', source: 'test', amounts: ['2'] }]);
  });

  it.each<ProjectionStage>(['group', 'read', 'record', 'insert', 'delete', 'unlink'])(
    'projects everything once when it dies after %s',
    async (stage) => {
      await rateBatch(3);
      await rateBatch(2);
      killAfter = stage;
      await expect(projector().drain()).rejects.toThrow('killed');
      killAfter = undefined;
      // Arrives after the group was formed, and must not change it.
      await rateBatch(4);
      await projector().drain();
      await sweep();
      await expectProjected();
    },
  );

  it.each<BatchStage>(['deduplicate', 'rate', 'failures', 'spool', 'totals', 'commit'])(
    'agrees with the ledger when the worker dies after %s',
    async (stage) => {
      await rateBatch(2);
      killAfter = stage;
      await expect(rateBatch(3)).rejects.toThrow('killed');
      killAfter = undefined;
      await worker().drain();
      await projector().drain();
      await sweep();
      await expectProjected();
    },
  );

  /** Sweeps the spool as a worker does when it starts. */
  async function sweep(): Promise<void> {
    const stop = new AbortController();
    const running = worker().run(stop.signal);
    await waitFor(async () => (await readdir(folder)).length === 0);
    stop.abort();
    await running;
  }

  it('repeats a failed insert as the same block, read into other memory', async () => {
    const reads = vi.spyOn(spool, 'read');
    await rateBatch(3);
    const tokens: string[] = [];
    const flaky: ProjectorDeps['clickhouse'] = {
      upToDate: (tables) => house.clickhouse.upToDate(tables),
      command: (...call) => house.clickhouse.command(...call),
      insertRows: async (table, columns, data, rowCount, token) => {
        tokens.push(token);
        await house.clickhouse.insertRows(table, columns, data, rowCount, token);
        if (tokens.length === 1) throw new Error('the answer was lost');
      },
    };
    const stop = new AbortController();
    const copies = projector(flaky);
    const running = copies.run(stop.signal);
    await waitFor(async () => (await waiting()) === 0);
    await rateBatch(2);
    copies.notify();
    await waitFor(async () => (await waiting()) === 0);
    stop.abort();
    await running;
    expect(failures).toHaveLength(1);
    expect(tokens).toHaveLength(3);
    expect(new Set(tokens).size).toBe(2);
    // The failed insert may still use the first memory. The retry takes other memory, which the next group reuses.
    const memories = reads.mock.calls.map(([, memory]) => memory);
    expect(memories.map((memory) => memories.indexOf(memory))).toEqual([0, 1, 1]);
    await expectProjected();
  });

  const damages: [string, (file: string) => Promise<void>][] = [
    ['is cut off', (file) => truncate(file, 20)],
    ['is longer', (file) => appendFile(file, 'x')],
    ['is missing', (file) => unlink(file)],
    ['holds other bytes', (file) => writeFile(file, Buffer.from('x'), { flag: 'r+' })],
  ];
  it.each(damages)(
    'names a spool file that %s, goes on with the others, and tries it again',
    async (_, damage) => {
      await rateBatch(2);
      const [file = ''] = await readdir(folder);
      const rows = await spool.read({ spoolFile: file, bytes: null });
      const copies = projector();
      killAfter = 'group';
      await expect(copies.drain()).rejects.toThrow('killed');
      killAfter = undefined;
      await damage(join(folder, file));
      await rateBatch(3);
      expect(await copies.drain()).toBe(3);
      expect(corrupt).toEqual([file]);
      expect(await waiting()).toBe(1);
      await writeFile(join(folder, file), rows);
      clock.advanceMs(CORRUPT_RETRY_MS);
      expect(await copies.drain()).toBe(2);
      await expectProjected();
    },
  );

  it('waits while a projector of an earlier version is active', async () => {
    const client = await test.postgres.pool.connect();
    await client.query("select pg_advisory_lock(hashtextextended('tollgate-projector', 0))");
    await rateBatch(2);
    await expect(projector().drain()).rejects.toThrow('earlier version');
    const stop = new AbortController();
    const running = projector().run(stop.signal);
    client.release(true);
    await waitFor(async () => (await waiting()) === 0);
    stop.abort();
    await running;
    await expectProjected();
  });

  it('continues after its connection was lost', async () => {
    const stop = new AbortController();
    const running = projector().run(stop.signal);
    await rateBatch(1);
    await waitFor(async () => (await waiting()) === 0);
    await test.postgres.pool.query(
      `select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and d.datname = current_database()`,
    );
    await rateBatch(2);
    await waitFor(async () => (await waiting()) === 0);
    stop.abort();
    await running;
    expect(failures).toHaveLength(1);
    await expectProjected();
  });
});
