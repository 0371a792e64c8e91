import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { batchRecord, PipelineFixture, testEvent, waitFor } from '../../testing/index.js';
import { holdSpool } from './batch-store.js';
import type { BatchStage } from './observer.js';

const PROJECTS = 3;

describe.each([1, 8])('a pipeline worker that dies, with %i shards', (shards) => {
  let fixture: PipelineFixture;

  beforeEach(async () => {
    fixture = await PipelineFixture.create({ shards: () => shards, projects: PROJECTS });
  });

  afterEach(() => fixture.drop());

  it.each<BatchStage>(['claim', 'deduplicate', 'rate', 'failures', 'spool', 'post', 'totals'])(
    'leaves everything as it was when it dies after %s, and then does it once',
    async (stage) => {
      await fixture.acceptForAll([testEvent('a'), testEvent('b', { raw_json: {} })]);
      fixture.killAfter = stage;
      await expect(fixture.worker({ batchEventsMax: 2 }).drain()).rejects.toThrow('killed');
      expect(await fixture.rows('select from usage_event_ids')).toEqual([]);
      expect(await fixture.rows('select from usage_batches')).toEqual([]);
      expect(await fixture.ingestTotals()).toEqual([]);
      expect((await fixture.queue.backlog()).events).toBe(2 * PROJECTS);
      fixture.killAfter = undefined;
      await fixture.worker({ batchEventsMax: 2 }).drain();
      const once = { processed_count: 1, failed_count: 1, duplicate_count: 0 };
      expect(await fixture.ingestTotals()).toMatchObject(fixture.projects.map(() => once));
    },
  );

  it('does not rate again what was committed before it died', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    fixture.killAfter = 'commit';
    await expect(fixture.worker().drain()).rejects.toThrow('killed');
    fixture.killAfter = undefined;
    await fixture.worker().drain();
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 1, duplicate_count: 0 }]);
  });

  it('sweeps spool files without a batch when it starts, and no others', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    await fixture.worker().drain();
    const [kept] = await readdir(fixture.folder);
    await fixture.spool.put([[Buffer.from('orphan')]]);
    await writeFile(join(fixture.folder, 'not-ours.txt'), 'kept');
    const stop = new AbortController();
    const running = fixture.worker().run(stop.signal);
    await waitFor(async () => (await readdir(fixture.folder)).length === 2);
    stop.abort();
    await running;
    expect((await readdir(fixture.folder)).sort()).toEqual([kept, 'not-ours.txt'].sort());
  });

  it('goes on after a failed batch, and leaves no file behind', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    fixture.killAfter = 'spool';
    const stop = new AbortController();
    const pipeline = fixture.worker({ lingerMs: 1 });
    const running = pipeline.run(stop.signal);
    await waitFor(() => fixture.failures.length > 0);
    fixture.killAfter = undefined;
    await waitFor(() => pipeline.stats().processed === 1);
    await waitFor(async () => (await readdir(fixture.folder)).length === 1);
    stop.abort();
    await running;
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 1, duplicate_count: 0 }]);
  });

  it('continues after a failed batch while the transaction of another worker never ends', async () => {
    let thaw = () => {};
    const frozen = transaction(fixture.postgres, async (tx) => {
      await holdSpool(tx);
      await new Promise<void>((resolve) => {
        thaw = resolve;
      });
    });
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    fixture.killAfter = 'spool';
    const stop = new AbortController();
    const pipeline = fixture.worker({ lingerMs: 1 });
    const running = pipeline.run(stop.signal);
    await waitFor(() => fixture.failures.length > 0);
    fixture.killAfter = undefined;
    await waitFor(() => pipeline.stats().processed === 1);
    expect((await readdir(fixture.folder)).length).toBeGreaterThan(1);
    thaw();
    await frozen;
    await waitFor(async () => (await readdir(fixture.folder)).length === 1);
    stop.abort();
    await running;
  });

  it('rates each event once though its connections are cut again and again', async () => {
    const events = Array.from({ length: 150 }, (_, index) => testEvent(`k${index}`));
    for (let start = 0; start < events.length; start += 5) {
      await fixture.acceptForAll(events.slice(start, start + 5));
    }
    const stop = new AbortController();
    const pipeline = fixture.worker({ batchEventsMax: 10, lingerMs: 1 });
    const running = pipeline.run(stop.signal);
    await fixture.cutWhileRunning(4);
    stop.abort();
    await running;
    const ofEach = (totals: object) => fixture.projects.map(() => totals);
    expect(await fixture.ingestTotals()).toMatchObject(ofEach({ processed_count: 150, duplicate_count: 0 }));
    expect(await fixture.usageTotals()).toMatchObject(ofEach({ item_count: 150, quantity: '150' }));
    expect(await fixture.rows('select sum(event_count)::int as events from usage_batches')).toEqual([
      { events: 150 * PROJECTS },
    ]);
    const files = (await fixture.rows('select spool_file from usage_batches')) as { spool_file: string }[];
    const kept = new Set(await readdir(fixture.folder));
    expect(files.filter(({ spool_file }) => !kept.has(spool_file))).toEqual([]);
  });
});
