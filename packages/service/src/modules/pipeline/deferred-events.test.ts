import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  batchRecord,
  createProject,
  idHexOf,
  PipelineFixture,
  reprocessRecord,
  type TestEvent,
  type TestProject,
  testEvent,
  waitFor,
} from '../../testing/index.js';
import type { BatchStage } from './observer.js';

/** Two such events use up a turn, and three use up a tenant's time in a batch. */
const SLOW_MS = 99;

function slowEvents(name: string, count: number, fields: object = { tokens: 1 }): TestEvent[] {
  return Array.from({ length: count }, (_, index) =>
    testEvent(`${name}${index}`, { raw_json: { name, cost_ms: SLOW_MS, ...fields } }),
  );
}

const quickEvents = (name: string, count: number) => slowEvents(name, count, { tokens: 1, cost_ms: 0 });

describe("events of a tenant's slow rules", () => {
  let fixture: PipelineFixture;
  let other: TestProject;

  beforeEach(async () => {
    fixture = await PipelineFixture.create();
    other = await createProject(fixture.postgres, 'ten_b', 'prj_b');
  });

  afterEach(() => fixture.drop());

  const deferredRows = () =>
    fixture.rows(
      'select deferred_tenant_id, project_ids, event_count from segments order by received_at_ms, id',
    );
  const arrivals = () =>
    fixture.rows(
      'select tenant_id, sum(event_count)::bigint as event_count from event_arrival_counters group by 1 order by 1',
    );

  /** Rates one batch, without a turn of deferred events after it. */
  async function oneBatch(): Promise<void> {
    fixture.killAfter = 'claim';
    fixture.killsAfterPasses = 1;
    await expect(fixture.worker().drain()).rejects.toThrow('killed');
    fixture.killAfter = undefined;
  }

  it('wait behind each other, and the batch commits what it has rated', async () => {
    await fixture.accept(
      batchRecord(fixture.project, slowEvents('slow', 8)),
      batchRecord(fixture.project, slowEvents('later', 2)),
      batchRecord(other, quickEvents('quick', 5)),
    );
    await oneBatch();
    expect(await fixture.ingestTotals()).toMatchObject([
      { project_id: 'prj_a', processed_count: 3 },
      { project_id: 'prj_b', processed_count: 5 },
    ]);
    expect(await deferredRows()).toEqual([
      { deferred_tenant_id: 'ten_a', project_ids: ['prj_a'], event_count: 7 },
    ]);
    expect(await fixture.queue.backlog()).toMatchObject({ events: 7, deferredEvents: 7 });
    expect(await fixture.rows('select count(*) from usage_event_ids')).toEqual([{ count: 8 }]);
    expect(await arrivals()).toEqual([
      { tenant_id: 'ten_a', event_count: 3 },
      { tenant_id: 'ten_b', event_count: 5 },
    ]);
    const worker = fixture.worker();
    await worker.drain();
    expect(worker.stats()).toMatchObject({ processed: 7, failed: 0, duplicate: 0 });
    expect(fixture.ratedNames.filter((name) => name === 'slow')).toHaveLength(8);
    expect(await deferredRows()).toEqual([]);
    expect(await arrivals()).toMatchObject([{ event_count: 10 }, { event_count: 5 }]);
    expect(await fixture.usageTotals()).toMatchObject([{ item_count: 10 }, { item_count: 5 }]);
  });

  it('are not those that took long because the system let other threads run', async () => {
    const fields = { tokens: 1, waited_ms: SLOW_MS };
    await fixture.accept(batchRecord(fixture.project, slowEvents('preempted', 8, fields)));
    const worker = fixture.worker();
    await worker.drain();
    expect(worker.stats()).toMatchObject({ batches: 1, processed: 8, deferred: 0 });
  });

  it('take their allowance once, though two batches have some of them', async () => {
    await fixture.accept(batchRecord(fixture.project, slowEvents('first', 5)));
    await fixture.accept(batchRecord(fixture.project, slowEvents('second', 5)));
    // The batch that found the tenant to be slow dies; the next one already knows the tenant as slow.
    fixture.killAfter = 'totals';
    fixture.killsAfterPasses = 0;
    const worker = fixture.worker({ batchEventsMax: 5 });
    await expect(worker.drain()).rejects.toThrow('killed');
    fixture.killAfter = 'commit';
    fixture.killsAfterPasses = 0;
    await expect(worker.drain()).rejects.toThrow('killed');
    fixture.killAfter = undefined;
    expect(fixture.ratedNames).toEqual(['first', 'first', 'first']);
    expect(await fixture.queue.backlog()).toMatchObject({ events: 10, deferredEvents: 5 });
    await worker.drain();
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 10, failed_count: 0 }]);
  });

  it('keep the new events of their tenant behind them, and those of no other', async () => {
    await fixture.accept(batchRecord(fixture.project, slowEvents('slow', 9)));
    await oneBatch();
    fixture.ratedNames.length = 0;
    await fixture.accept(
      batchRecord(fixture.project, quickEvents('new', 2)),
      batchRecord(other, quickEvents('quick', 2)),
    );
    await fixture.worker().drain();
    expect(fixture.ratedNames.slice(0, 2)).toEqual(['quick', 'quick']);
    expect(fixture.ratedNames.slice(-2)).toEqual(['new', 'new']);
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 11 }, { processed_count: 2 }]);
  });

  it('take turns with those of other such tenants', async () => {
    await fixture.accept(
      batchRecord(fixture.project, slowEvents('a', 9)),
      batchRecord(other, slowEvents('b', 9)),
    );
    await oneBatch();
    fixture.ratedNames.length = 0;
    await fixture.worker().drain();
    expect(fixture.ratedNames.join('')).toBe('aabbaabbaabb');
  });

  it('are rated once though some come again meanwhile', async () => {
    const events = slowEvents('slow', 6);
    await fixture.accept(batchRecord(fixture.project, [...events, ...events]));
    await fixture.accept(batchRecord(fixture.project, events));
    await fixture.worker().drain();
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 6, duplicate_count: 12 }]);
    expect(await arrivals()).toEqual([{ tenant_id: 'ten_a', event_count: 18 }]);
  });

  it('that are rated again wait like others, and those that had no turn stay failed', async () => {
    const failing = slowEvents('bad', 8, {});
    await fixture.accept(batchRecord(fixture.project, failing));
    await fixture.worker().drain();
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 0, failed_count: 8 }]);
    fixture.isMended = true;
    const ids = failing.map((event) => idHexOf(fixture.project, event));
    await fixture.accept(reprocessRecord(fixture.project, ids));
    await oneBatch();
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 3, failed_count: 5 }]);
    expect(await fixture.rows('select attempt from failed_events')).toHaveLength(5);
    expect(await deferredRows()).toMatchObject([{ deferred_tenant_id: 'ten_a', event_count: 5 }]);
    const worker = fixture.worker();
    await worker.drain();
    expect(worker.stats()).toMatchObject({ reprocessed: 5, skipped: 0 });
    expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 8, failed_count: 0 }]);
  });

  it.each<BatchStage>(['claim', 'deduplicate', 'rate', 'failures', 'spool', 'post', 'totals', 'commit'])(
    'are rated once, whichever batch dies after %s',
    async (stage) => {
      const bad = slowEvents('bad', 3, {});
      await fixture.accept(
        batchRecord(fixture.project, [...slowEvents('slow', 6), ...bad]),
        batchRecord(other, quickEvents('quick', 4)),
      );
      let deaths = 0;
      for (let passes = 0; (await fixture.queue.backlog()).events > 0; passes = (passes + 1) % 2) {
        fixture.killAfter = stage;
        fixture.killsAfterPasses = passes;
        await fixture
          .worker()
          .drain()
          .catch(() => deaths++);
      }
      expect(deaths).toBeGreaterThan(2);
      expect(await fixture.ingestTotals()).toEqual([
        { project_id: 'prj_a', processed_count: 6, failed_count: 3, duplicate_count: 0 },
        { project_id: 'prj_b', processed_count: 4, failed_count: 0, duplicate_count: 0 },
      ]);
      expect(await fixture.rows('select sum(event_count)::int as events from usage_batches')).toEqual([
        { events: 13 },
      ]);
      expect(await arrivals()).toMatchObject([{ event_count: 9 }, { event_count: 4 }]);
    },
  );

  it('are rated once by workers that compete and whose connections are cut', async () => {
    for (let start = 0; start < 60; start += 6) {
      const events = slowEvents('slow', 60).slice(start, start + 6);
      await fixture.accept(
        batchRecord(fixture.project, events),
        batchRecord(fixture.project, events.toReversed()),
      );
      await fixture.accept(batchRecord(other, quickEvents(`quick${start}-`, 6)));
    }
    const stop = new AbortController();
    const workers = [1, 2].map(() => fixture.worker({ batchEventsMax: 20, lingerMs: 1 }));
    const running = workers.map((worker) => worker.run(stop.signal));
    await fixture.cutWhileRunning(3);
    await waitFor(async () => (await fixture.queue.backlog()).segments === 0);
    stop.abort();
    await Promise.all(running);
    expect(await fixture.ingestTotals()).toEqual([
      { project_id: 'prj_a', processed_count: 60, failed_count: 0, duplicate_count: 60 },
      { project_id: 'prj_b', processed_count: 60, failed_count: 0, duplicate_count: 0 },
    ]);
    expect(await arrivals()).toMatchObject([{ event_count: 120 }, { event_count: 60 }]);
  });
});
