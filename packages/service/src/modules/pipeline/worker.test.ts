import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { PostgresSegmentQueue, type SegmentRecord } from '../../platform/queue/index.js';
import {
  batchRecord,
  createProject,
  createTestPostgres,
  idHexOf,
  reprocessRecord,
  TEST_DAY,
  type TestEvent,
  type TestPostgres,
  type TestProject,
  testEvent,
  testRules,
  waitFor,
} from '../../testing/index.js';
import type { BatchStage } from './observer.js';

import { createFileSpool, type Spool } from './spool.js';
import { createPipelineWorker, type PipelineWorker } from './worker.js';

const NOW_MS = 1_750_000_100_000;

function manyEvents(count: number, prefix = 'k'): TestEvent[] {
  return Array.from({ length: count }, (_, index) => testEvent(`${prefix}${index}`));
}

describe('pipeline worker', () => {
  let test: TestPostgres;
  let project: TestProject;
  let folder: string;
  let spool: Spool;
  let queue: PostgresSegmentQueue;
  let isMended = false;
  let failAfter: BatchStage | undefined;
  let defects: unknown[];
  let failures: unknown[];

  beforeEach(async () => {
    test = await createTestPostgres();
    project = await createProject(test.postgres, 'ten_a', 'prj_a');
    folder = await mkdtemp(join(tmpdir(), 'tollgate-spool-'));
    spool = await createFileSpool(folder);
    queue = new PostgresSegmentQueue(test.postgres);
    [isMended, failAfter, defects, failures] = [false, undefined, [], []];
  });

  afterEach(async () => {
    await test.drop();
    await rm(folder, { recursive: true });
  });

  function worker(options = {}): PipelineWorker {
    return createPipelineWorker(
      {
        postgres: test.postgres,
        queue,
        spool,
        rules: testRules(() => isMended),
        clock: new ManualClock(NOW_MS),
        observer: {
          stage: (stage) => {
            if (stage === failAfter) throw new Error(`killed after ${stage}`);
          },
          batch: () => {},
          batchFailed: (error) => failures.push(error),
          defect: (error) => defects.push(error),
        },
        onCommitted: () => {},
      },
      options,
    );
  }

  async function accept(...records: SegmentRecord[]): Promise<void> {
    for (const record of records) await queue.append([record]);
  }

  async function rows(sql: string): Promise<unknown[]> {
    return (await test.postgres.pool.query(sql)).rows;
  }

  const usageTotals = () =>
    rows(
      'select project_id, day, metric, unit, currency, item_count, quantity, amount from usage_totals order by 1, 2, 3',
    );
  const ingestTotals = () =>
    rows('select project_id, processed_count, failed_count, duplicate_count from ingest_totals order by 1');
  const eventTotals = () =>
    rows('select project_id, day, processed_count, failed_count from usage_event_totals order by 1, 2');

  it('rates what is queued, adds it up and leaves it for ClickHouse', async () => {
    const other = await createProject(test.postgres, 'ten_b', 'prj_b');
    await accept(
      batchRecord(project, [
        testEvent('a', { raw_json: { tokens: 2 } }),
        testEvent('b', { raw_json: { tokens: 3 } }),
      ]),
      batchRecord(other, [testEvent('a', { raw_json: { tokens: 7 } })], { receivedAtMs: 1_749_999_999_999 }),
    );
    const pipeline = worker();
    await pipeline.drain();
    expect(await usageTotals()).toEqual([
      {
        project_id: 'prj_a',
        day: TEST_DAY,
        metric: 'llm.tokens',
        unit: 'token',
        currency: 'USD',
        item_count: 2,
        quantity: '5',
        amount: '10',
      },
      {
        project_id: 'prj_b',
        day: TEST_DAY,
        metric: 'llm.tokens',
        unit: 'token',
        currency: 'USD',
        item_count: 1,
        quantity: '7',
        amount: '14',
      },
    ]);
    expect(await eventTotals()).toEqual([
      { project_id: 'prj_a', day: TEST_DAY, processed_count: 2, failed_count: 0 },
      { project_id: 'prj_b', day: TEST_DAY, processed_count: 1, failed_count: 0 },
    ]);
    const [spoolFile] = await readdir(folder);
    expect(
      await rows(
        'select created_at_ms, oldest_received_at_ms, event_count, item_count, project_ids, spool_file, insert_group from usage_batches',
      ),
    ).toEqual([
      {
        created_at_ms: NOW_MS,
        oldest_received_at_ms: 1_749_999_999_999,
        event_count: 3,
        item_count: 3,
        project_ids: ['prj_a', 'prj_b'],
        spool_file: spoolFile,
        insert_group: null,
      },
    ]);
    expect(await rows('select from segments')).toEqual([]);
    expect(pipeline.stats()).toMatchObject({ batches: 1, claimed: 3, processed: 3, duplicate: 0 });
  });

  it('counts duplicates of the same batch and of earlier ones, and rates each event once', async () => {
    await accept(batchRecord(project, [testEvent('a'), testEvent('b'), testEvent('a')]));
    await worker().drain();
    await accept(batchRecord(project, [testEvent('b'), testEvent('c'), testEvent('c')]));
    await worker().drain();
    expect(await ingestTotals()).toEqual([
      { project_id: 'prj_a', processed_count: 3, failed_count: 0, duplicate_count: 3 },
    ]);
    expect(await usageTotals()).toMatchObject([{ item_count: 3, quantity: '3', amount: '6' }]);
    expect(await rows('select event_count from usage_batches order by id')).toEqual([
      { event_count: 2 },
      { event_count: 1 },
    ]);
  });

  it('writes no rows for a batch of nothing but duplicates', async () => {
    await accept(batchRecord(project, [testEvent('a')]));
    await worker().drain();
    await accept(batchRecord(project, [testEvent('a')]));
    await worker().drain();
    expect(await rows('select event_count from usage_batches')).toHaveLength(1);
    expect(await readdir(folder)).toHaveLength(1);
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, duplicate_count: 1 }]);
  });

  it('keeps the same id of two projects apart', async () => {
    const other = await createProject(test.postgres, 'ten_a', 'prj_b');
    const record = batchRecord(project, [testEvent('a')]);
    await accept(record, { ...record, scope: { ...record.scope, ...other } });
    await worker().drain();
    expect(await ingestTotals()).toMatchObject([
      { project_id: 'prj_a', processed_count: 1 },
      { project_id: 'prj_b', processed_count: 1 },
    ]);
  });

  it('keeps a failed event whole, and puts a processed one in its place when it is rated anew', async () => {
    const rawJson = '{ "big": 12345678901234567890.10, "text": "\\u00e9\\u0000" }';
    const failing = testEvent('bad', { metadata: { a: 1 } });
    const body = JSON.stringify({ source: 'gateway', events: [failing] }).replace('{"tokens":1}', rawJson);
    await accept(batchRecord(project, [failing], { body }));
    await worker().drain();
    const idHex = idHexOf(project, failing);
    const [kept] = (await rows('select * from failed_events')) as [{ event: string }];
    expect(kept).toMatchObject({
      tenant_id: 'ten_a',
      project_id: 'prj_a',
      occurred_at: testEvent('').occurred_at,
      extractor_rule_set_id: 'ers_1',
      failure_code: 'dimension_missing',
      attempt: 0,
    });
    expect(kept.event).toContain(`"raw_json":${rawJson}`);
    expect(JSON.parse(kept.event)).toMatchObject({
      source: 'gateway',
      metadata: { a: 1 },
      idempotency_key: 'bad',
    });
    expect(await eventTotals()).toMatchObject([{ processed_count: 0, failed_count: 1 }]);

    await accept(reprocessRecord(project, [idHex]));
    await worker().drain();
    expect(await rows('select attempt, event = $$x$$ from failed_events')).toMatchObject([{ attempt: 1 }]);
    expect(await ingestTotals()).toMatchObject([{ processed_count: 0, failed_count: 1 }]);

    isMended = true;
    await accept(reprocessRecord(project, [idHex, idHex]), reprocessRecord(project, ['00'.repeat(16)]));
    const last = worker();
    await last.drain();
    expect(await rows('select from failed_events')).toEqual([]);
    expect(await eventTotals()).toMatchObject([{ processed_count: 1, failed_count: 0 }]);
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 0, duplicate_count: 0 }]);
    expect(last.stats()).toMatchObject({ claimed: 3, reprocessed: 1, skipped: 2 });
  });

  it('fails an event without a published version', async () => {
    await accept(
      batchRecord(project, [testEvent('a', { extractor_rule_set_id: 'ers_unpublished' }), testEvent('b')]),
    );
    await worker().drain();
    expect(await rows('select failure_code from failed_events')).toEqual([
      { failure_code: 'rule_set_not_published' },
    ]);
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 1 }]);
  });

  it('keeps events that it cannot process, and goes on with the others', async () => {
    const wrongTime = batchRecord(project, [testEvent('d')]);
    await accept(
      batchRecord(project, [testEvent('a', { raw_json: { bomb: true } }), testEvent('b')]),
      batchRecord(project, [testEvent('c'), testEvent('c2')], { body: '{"events":[{"occurred\0' }),
      {
        ...wrongTime,
        body: Buffer.from(wrongTime.body.toString().replace(`${testEvent('').occurred_at}`, '1')),
      },
      batchRecord(project, [testEvent('e'), testEvent('f')], { body: '{"events":[7]}' }),
      batchRecord(project, [testEvent('g')], { body: '' }),
    );
    await worker().drain();
    expect(await rows('select distinct failure_code from failed_events')).toEqual([
      { failure_code: 'processing_failed' },
    ]);
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 7 }]);
    expect(defects).toHaveLength(7);
  });

  it('goes on behind a segment that it cannot read', async () => {
    await accept(batchRecord(project, [testEvent('a')]));
    await test.postgres.pool.query(`update segments set bytes = '\\x00'`);
    await accept(batchRecord(project, [testEvent('b')]));
    await worker({ batchEventsMax: 1 }).drain();
    expect(defects).toHaveLength(1);
    expect(await rows('select event_count from unreadable_segments')).toEqual([{ event_count: 1 }]);
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 0 }]);
  });

  it('rates each event once when several workers and retries compete', async () => {
    const events = manyEvents(300);
    const pipelines = [1, 2, 3].map(() => worker({ batchEventsMax: 40, lingerMs: 1 }));
    const stop = new AbortController();
    const running = pipelines.map((pipeline) => pipeline.run(stop.signal));
    for (let start = 0; start < events.length; start += 20) {
      const slice = events.slice(start, start + 20);
      await accept(batchRecord(project, slice), batchRecord(project, slice.toReversed()));
      for (const pipeline of pipelines) pipeline.notify();
    }
    await waitFor(async () => (await queue.backlog()).segments === 0);
    stop.abort();
    await Promise.all(running);
    expect(failures).toEqual([]);
    expect(await ingestTotals()).toMatchObject([
      { processed_count: 300, failed_count: 0, duplicate_count: 300 },
    ]);
    expect(await usageTotals()).toMatchObject([{ item_count: 300, quantity: '300' }]);
    expect(await rows('select sum(event_count)::int as events from usage_batches')).toEqual([
      { events: 300 },
    ]);
  });

  it.each<BatchStage>(['claim', 'deduplicate', 'rate', 'failures', 'spool', 'totals'])(
    'leaves everything as it was when it dies after %s, and then does it once',
    async (stage) => {
      await accept(batchRecord(project, [testEvent('a'), testEvent('b', { raw_json: {} })]));
      failAfter = stage;
      await expect(worker().drain()).rejects.toThrow('killed');
      expect(await rows('select from usage_event_ids')).toEqual([]);
      expect(await rows('select from usage_batches')).toEqual([]);
      expect(await ingestTotals()).toEqual([]);
      expect((await queue.backlog()).events).toBe(2);
      failAfter = undefined;
      await worker().drain();
      expect(await ingestTotals()).toMatchObject([
        { processed_count: 1, failed_count: 1, duplicate_count: 0 },
      ]);
    },
  );

  it('does not rate again what was committed before it died', async () => {
    await accept(batchRecord(project, [testEvent('a')]));
    failAfter = 'commit';
    await expect(worker().drain()).rejects.toThrow('killed');
    failAfter = undefined;
    await worker().drain();
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, duplicate_count: 0 }]);
  });

  it('sweeps spool files without a batch when it starts, and no others', async () => {
    await accept(batchRecord(project, [testEvent('a')]));
    await worker().drain();
    const [kept] = await readdir(folder);
    await spool.put(Buffer.from('orphan'));
    await writeFile(join(folder, 'not-ours.txt'), 'kept');
    const stop = new AbortController();
    const running = worker().run(stop.signal);
    await waitFor(async () => (await readdir(folder)).length === 2);
    stop.abort();
    await running;
    expect((await readdir(folder)).sort()).toEqual([kept, 'not-ours.txt'].sort());
  });

  it('goes on after a failed batch, and leaves no file behind', async () => {
    await accept(batchRecord(project, [testEvent('a')]));
    failAfter = 'spool';
    const stop = new AbortController();
    const pipeline = worker({ lingerMs: 1 });
    const running = pipeline.run(stop.signal);
    await waitFor(() => failures.length > 0);
    failAfter = undefined;
    await waitFor(() => pipeline.stats().processed === 1);
    await waitFor(async () => (await readdir(folder)).length === 1);
    stop.abort();
    await running;
    expect(await ingestTotals()).toMatchObject([{ processed_count: 1, duplicate_count: 0 }]);
  });
});
