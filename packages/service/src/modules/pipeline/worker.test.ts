import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  batchRecord,
  createProject,
  idHexOf,
  PipelineFixture,
  reprocessRecord,
  TEST_DAY,
  type TestEvent,
  testEvent,
} from '../../testing/index.js';

function manyEvents(count: number, prefix = 'k'): TestEvent[] {
  return Array.from({ length: count }, (_, index) => testEvent(`${prefix}${index}`));
}

describe('pipeline worker', () => {
  let fixture: PipelineFixture;

  beforeEach(async () => {
    fixture = await PipelineFixture.create();
  });

  afterEach(() => fixture.drop());

  it('rates no more while too much waits for ClickHouse, and goes on when that is done', async () => {
    await fixture.accept(batchRecord(fixture.project, manyEvents(3, 'first')));
    const pipeline = fixture.worker({ unprojectedBytesMax: 1 });
    await pipeline.drain();
    await fixture.accept(batchRecord(fixture.project, manyEvents(2, 'second')));
    await pipeline.drain();
    expect(pipeline.stats().processed).toBe(3);
    await fixture.postgres.pool.query('delete from usage_batches');
    await pipeline.drain();
    expect(pipeline.stats().processed).toBe(5);
  });

  it('rates what is queued, adds it up and leaves it for ClickHouse', async () => {
    const other = await createProject(fixture.postgres, 'ten_b', 'prj_b');
    await fixture.accept(
      batchRecord(fixture.project, [
        testEvent('a', { raw_json: { tokens: 2 } }),
        testEvent('b', { raw_json: { tokens: 3 } }),
      ]),
      batchRecord(other, [testEvent('a', { raw_json: { tokens: 7 } })], { receivedAtMs: 1_749_999_999_999 }),
    );
    const pipeline = fixture.worker();
    await pipeline.drain();
    expect(await fixture.usageTotals()).toEqual([
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
    expect(await fixture.eventTotals()).toEqual([
      { project_id: 'prj_a', day: TEST_DAY, processed_count: 2, failed_count: 0 },
      { project_id: 'prj_b', day: TEST_DAY, processed_count: 1, failed_count: 0 },
    ]);
    const [spoolFile] = await readdir(fixture.folder);
    expect(
      await fixture.rows(
        'select created_at_ms, oldest_received_at_ms, event_count, item_count, project_ids, spool_file, insert_group from usage_batches',
      ),
    ).toEqual([
      {
        created_at_ms: PipelineFixture.nowMs,
        oldest_received_at_ms: 1_749_999_999_999,
        event_count: 3,
        item_count: 3,
        project_ids: ['prj_a', 'prj_b'],
        spool_file: spoolFile,
        insert_group: null,
      },
    ]);
    expect(await fixture.rows('select from segments')).toEqual([]);
    expect(pipeline.stats()).toMatchObject({ batches: 1, claimed: 3, processed: 3, duplicate: 0 });
  });

  it('counts duplicates of the same batch and of earlier ones, and rates each event once', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a'), testEvent('b'), testEvent('a')]));
    await fixture.worker().drain();
    await fixture.accept(batchRecord(fixture.project, [testEvent('b'), testEvent('c'), testEvent('c')]));
    await fixture.worker().drain();
    expect(await fixture.ingestTotals()).toEqual([
      { project_id: 'prj_a', processed_count: 3, failed_count: 0, duplicate_count: 3 },
    ]);
    expect(await fixture.usageTotals()).toMatchObject([{ item_count: 3, quantity: '3', amount: '6' }]);
    expect(await fixture.rows('select event_count from usage_batches order by id')).toEqual([
      { event_count: 2 },
      { event_count: 1 },
    ]);
  });

  it('writes no rows for a batch of nothing but duplicates', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    await fixture.worker().drain();
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    await fixture.worker().drain();
    expect(await fixture.rows('select event_count from usage_batches')).toHaveLength(1);
    expect(await readdir(fixture.folder)).toHaveLength(1);
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 1, duplicate_count: 1 }]);
  });

  it('keeps the same id of two projects apart', async () => {
    const other = await createProject(fixture.postgres, 'ten_a', 'prj_b');
    const record = batchRecord(fixture.project, [testEvent('a')]);
    await fixture.accept(record, { ...record, scope: { ...record.scope, ...other } });
    await fixture.worker().drain();
    expect(await fixture.ingestTotals()).toMatchObject([
      { project_id: 'prj_a', processed_count: 1 },
      { project_id: 'prj_b', processed_count: 1 },
    ]);
  });

  it('keeps a failed event whole, and replaces it by a processed one when it is rated again', async () => {
    const rawJson = '{ "big": 12345678901234567890.10, "text": "\\u00e9\\u0000" }';
    const failing = testEvent('bad', { metadata: { a: 1 } });
    const body = JSON.stringify({ source: 'gateway', events: [failing] }).replace('{"tokens":1}', rawJson);
    await fixture.accept(batchRecord(fixture.project, [failing], { body }));
    await fixture.worker().drain();
    const idHex = idHexOf(fixture.project, failing);
    const [kept] = (await fixture.rows('select * from failed_events')) as [{ event: string }];
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
    expect(await fixture.eventTotals()).toMatchObject([{ processed_count: 0, failed_count: 1 }]);

    await fixture.accept(reprocessRecord(fixture.project, [idHex]));
    await fixture.worker().drain();
    expect(await fixture.rows('select attempt, event = $$x$$ from failed_events')).toMatchObject([
      { attempt: 1 },
    ]);
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 0, failed_count: 1 }]);

    fixture.isMended = true;
    await fixture.accept(
      reprocessRecord(fixture.project, [idHex, idHex]),
      reprocessRecord(fixture.project, ['00'.repeat(16)]),
    );
    const last = fixture.worker();
    await last.drain();
    expect(await fixture.rows('select from failed_events')).toEqual([]);
    expect(await fixture.eventTotals()).toMatchObject([{ processed_count: 1, failed_count: 0 }]);
    expect(await fixture.ingestTotals()).toMatchObject([
      { processed_count: 1, failed_count: 0, duplicate_count: 0 },
    ]);
    expect(last.stats()).toMatchObject({ claimed: 3, reprocessed: 1, skipped: 2 });
  });

  it('reads back no more failed events at once than fit into memory', async () => {
    const failing = ['bad-1', 'bad-2', 'bad-3'].map((key) => testEvent(key, { raw_json: {} }));
    await fixture.accept(batchRecord(fixture.project, failing));
    await fixture.worker().drain();
    fixture.isMended = true;
    const ids = failing.map((event) => idHexOf(fixture.project, event));
    await fixture.accept(reprocessRecord(fixture.project, [...ids, ...ids]));
    const worker = fixture.worker({ reprocessBytesMax: 1 });
    await worker.drain();
    expect(worker.stats()).toMatchObject({ batches: 3, claimed: 6, reprocessed: 3, skipped: 3 });
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 3, failed_count: 0 }]);
    expect((await fixture.queue.backlog()).segments).toBe(0);
  });

  it('fails an event without a published version', async () => {
    await fixture.accept(
      batchRecord(fixture.project, [
        testEvent('a', { extractor_rule_set_id: 'ers_unpublished' }),
        testEvent('b'),
      ]),
    );
    await fixture.worker().drain();
    expect(await fixture.rows('select failure_code from failed_events')).toEqual([
      { failure_code: 'rule_set_not_published' },
    ]);
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 1 }]);
  });

  it('keeps events that it cannot process, and goes on with the others', async () => {
    const wrongTime = batchRecord(fixture.project, [testEvent('d')]);
    await fixture.accept(
      batchRecord(fixture.project, [testEvent('a', { raw_json: { bomb: true } }), testEvent('b')]),
      batchRecord(fixture.project, [testEvent('c'), testEvent('c2')], { body: '{"events":[{"occurred\0' }),
      {
        ...wrongTime,
        body: Buffer.from(wrongTime.body.toString().replace(`${testEvent('').occurred_at}`, '1')),
      },
      batchRecord(fixture.project, [testEvent('e'), testEvent('f')], { body: '{"events":[7]}' }),
      batchRecord(fixture.project, [testEvent('g')], { body: '' }),
    );
    await fixture.worker().drain();
    expect(await fixture.rows('select distinct failure_code from failed_events')).toEqual([
      { failure_code: 'processing_failed' },
    ]);
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 7 }]);
    expect(fixture.defects).toHaveLength(7);
  });

  it('goes on behind a segment that it cannot read', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    await fixture.postgres.pool.query(`update segments set bytes = '\\x00'`);
    await fixture.accept(batchRecord(fixture.project, [testEvent('b')]));
    await fixture.worker({ batchEventsMax: 1 }).drain();
    expect(fixture.defects).toHaveLength(1);
    expect(await fixture.rows('select event_count from unreadable_segments')).toEqual([{ event_count: 1 }]);
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 1, failed_count: 0 }]);
  });

  it('rates each event once when several workers and retries compete', async () => {
    const events = manyEvents(300);
    await fixture.rateCompeting(events, 20);
    expect(fixture.failures).toEqual([]);
    expect(await fixture.ingestTotals()).toMatchObject([
      { processed_count: 300, failed_count: 0, duplicate_count: 300 },
    ]);
    expect(await fixture.usageTotals()).toMatchObject([{ item_count: 300, quantity: '300' }]);
    expect(await fixture.rows('select sum(event_count)::int as events from usage_batches')).toEqual([
      { events: 300 },
    ]);
  });
});
