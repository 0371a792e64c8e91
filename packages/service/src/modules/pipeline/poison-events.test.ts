import { afterEach, beforeEach, expect, it } from 'vitest';
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

/** PostgreSQL refuses NUL in a text, so no batch with an event of this metric can be committed. */
const POISON = { tokens: 1, unpriced: 'a\0' };

let fixture: PipelineFixture;
let other: TestProject;

beforeEach(async () => {
  fixture = await PipelineFixture.create();
  other = await createProject(fixture.postgres, 'ten_b', 'prj_b');
});

afterEach(() => fixture.drop());

function events(name: string, count: number, poisoned: readonly number[] = []): TestEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const isPoison = poisoned.includes(index);
    const rawJson = isPoison ? { ...POISON, name: `${name} poison` } : { tokens: 1, name };
    return testEvent(`${name}${index}`, { raw_json: rawJson });
  });
}

/** Runs a worker until nothing waits. */
async function rateAll(batchEventsMax = 20_000): Promise<void> {
  const worker = fixture.worker({ batchEventsMax, lingerMs: 1 });
  const stop = new AbortController();
  const running = worker.run(stop.signal);
  await waitFor(async () => {
    worker.notify('waiting');
    worker.notify('deferred');
    return (await fixture.queue.backlog()).segments === 0;
  });
  stop.abort();
  await running;
}

const failedEvents = () =>
  fixture.rows("select replace(raw_event_id::text, '-', '') as id, attempt from failed_events order by 1");

it('becomes a failed event, and all others are rated once', async () => {
  const poisoned = events('a', 700, [0, 333, 334, 699]);
  await fixture.accept(
    batchRecord(fixture.project, poisoned.slice(0, 500)),
    batchRecord(other, events('b', 50)),
    batchRecord(fixture.project, poisoned.slice(500)),
    batchRecord(fixture.project, poisoned.slice(300, 400)),
  );
  await rateAll();
  expect(await fixture.ingestTotals()).toEqual([
    { project_id: 'prj_a', processed_count: 696, failed_count: 4, duplicate_count: 100 },
    { project_id: 'prj_b', processed_count: 50, failed_count: 0, duplicate_count: 0 },
  ]);
  expect(await failedEvents()).toHaveLength(4);
  expect(fixture.defects.map(String)).toEqual(Array(4).fill('Error: no batch with this event succeeds'));
  expect(await fixture.usageTotals()).toMatchObject([
    { project_id: 'prj_a', item_count: 696 },
    { project_id: 'prj_b', item_count: 50 },
  ]);
});

it('stops nothing but the events of its tenant before it is found', async () => {
  await fixture.accept(batchRecord(fixture.project, events('a', 3, [1])), batchRecord(other, events('b', 3)));
  const worker = fixture.worker();
  await expect(worker.drain()).rejects.toMatchObject({ code: '22021' });
  fixture.ratedNames.length = 0;
  // The turn of the first tenant fails, that of the second one does not.
  await expect(worker.drain()).rejects.toMatchObject({ code: '22021' });
  expect(await fixture.queue.backlog()).toMatchObject({ events: 6, deferredEvents: 6 });
  await fixture.accept(batchRecord(other, events('later', 2)));
  await expect(worker.drain()).rejects.toMatchObject({ code: '22021' });
  expect(fixture.ratedNames.filter((name) => name === 'b' || name === 'later')).toHaveLength(5);
  await rateAll();
  expect(await fixture.ingestTotals()).toMatchObject([
    { processed_count: 2, failed_count: 1 },
    { processed_count: 5, failed_count: 0 },
  ]);
});

it('becomes a failed event again when it is reprocessed', async () => {
  const [poison] = events('a', 1, [0]);
  if (poison === undefined) throw new Error('there is no event');
  await fixture.accept(batchRecord(fixture.project, [poison]));
  await rateAll();
  const id = idHexOf(fixture.project, poison);
  expect(await failedEvents()).toEqual([{ id, attempt: 0 }]);
  await fixture.accept(reprocessRecord(fixture.project, [id]), batchRecord(other, events('b', 2)));
  await rateAll();
  expect(await failedEvents()).toEqual([{ id, attempt: 1 }]);
  expect(await fixture.ingestTotals()).toMatchObject([
    { processed_count: 0, failed_count: 1 },
    { processed_count: 2, failed_count: 0 },
  ]);
});

it('is not looked for when a store has failed', async () => {
  await fixture.accept(batchRecord(fixture.project, events('a', 5)), batchRecord(other, events('b', 5)));
  fixture.killAfter = 'totals';
  fixture.killsAfterPasses = 0;
  const worker = fixture.worker();
  await expect(worker.drain()).rejects.toThrow('killed');
  fixture.killAfter = undefined;
  await worker.drain();
  expect(worker.stats()).toMatchObject({ processed: 10, deferred: 0 });
});
