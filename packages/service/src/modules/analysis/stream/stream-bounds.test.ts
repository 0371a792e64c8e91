import { type AnalysisQuery, STREAM_ROWS_MAX } from '@tollgate/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { insertUsageRows, usageRow } from '../../../testing/index.js';
import { type ReceivedEvent, StreamFixture } from './stream.testing.js';

const TICK_CHARS_MAX = 1_048_576;

let fixture: StreamFixture;
let query: AnalysisQuery;
beforeEach(async () => {
  fixture = await StreamFixture.open();
  query = {
    metrics: ['llm.tokens'],
    time_range: { from: fixture.nowS - 3_600, to: fixture.nowS },
    bucket_size: 'none',
    group_by: ['subject_id'],
  };
});
afterEach(() => fixture.close());

/** Usage of so many subjects, one row of the answer each. */
async function useOf(subjects: number): Promise<void> {
  const { tenantId, projectId } = fixture.project;
  const rows = Array.from({ length: subjects }, (_, n) =>
    usageRow({
      tenantId,
      projectId,
      occurredAt: fixture.nowS - 60,
      subjectType: 'user',
      subjectId: `subject-${n}`,
    }),
  );
  await insertUsageRows(fixture.store.clickhouse, rows);
}

async function eventsOf(queries: readonly AnalysisQuery[]): Promise<ReceivedEvent[]> {
  const client = await fixture.follow({ queries });
  expect((await client.next()).name).toBe('ready');
  await fixture.use(fixture.nowS - 60);
  await fixture.tick();
  const events: ReceivedEvent[] = [];
  for (const _ of queries) events.push(await client.next());
  return events;
}

it('asks for a new read of a query with too many changed rows, and of that query only', async () => {
  await useOf(STREAM_ROWS_MAX);
  const events = await eventsOf([query, { ...query, group_by: [] }]);
  expect(events).toMatchObject([
    { name: 'reset', id: undefined, data: { query: 0 } },
    { name: 'buckets', id: 1, data: { query: 1, buckets: [null] } },
  ]);
});

it('sends a client so much in one tick, and asks for a new read of the rest', async () => {
  await useOf(STREAM_ROWS_MAX - 1);
  const queries = Array.from({ length: 8 }, (_, n) => ({ ...query, limit: STREAM_ROWS_MAX + n }));
  const events = await eventsOf(queries);
  const sent = events.filter(({ name }) => name === 'buckets');
  const chars = sent.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
  expect(chars).toBeLessThanOrEqual(TICK_CHARS_MAX);
  expect(chars).toBeGreaterThan(TICK_CHARS_MAX / 2);
  const others = events.filter(({ name }) => name === 'reset');
  expect(others.length).toBe(queries.length - sent.length);
  expect(events.map(({ data }) => data.query)).toEqual(queries.map((_, index) => index));
  expect(events.map(({ id }) => id)).toEqual([...queries.slice(1).map(() => undefined), 1]);
});
