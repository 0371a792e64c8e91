import type { AnalysisQuery, AnalysisResult } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bucketStarts, parseBucketSize } from '../../../kernel/bucket.js';
import { type EventClient, StreamFixture } from './stream.testing.js';

const DAY_S = 86_400;
const ROUNDS_MAX = 3;
const HEARTBEAT_MS = 15_000;

let fixture: StreamFixture;
beforeAll(async () => {
  fixture = await StreamFixture.open();
});
afterAll(() => fixture.close());

type Rows = AnalysisResult['rows'];

const range = fc.oneof(
  fc.constantFrom(600, 3_600, 86_400, 40 * DAY_S).map((last_seconds) => ({ last_seconds })),
  fc
    .tuple(fc.integer({ min: 0, max: 10 * DAY_S }), fc.integer({ min: 1, max: 10 * DAY_S }))
    .map(([ago, length]) => ({ from: fixture.nowS - ago - length, to: fixture.nowS - ago })),
);

const query: fc.Arbitrary<AnalysisQuery> = fc
  .record({
    time_range: range,
    timezone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu'),
    bucket_size: fc.constantFrom('auto', 'none', '1m', '7m', '15m', '1h', '5h', '1d', '7d', '1mo'),
    group_by: fc.subarray(['model', 'subject_id', 'subject_type', 'absent']),
    limit: fc.constantFrom(undefined, undefined, 1, 2),
    of: fc.constantFrom<Pick<AnalysisQuery, 'metrics' | 'split_by' | 'measures'>[]>(
      { metrics: ['llm.tokens'] },
      {},
      { split_by: [] },
      { split_by: [], measures: ['quantity', 'amount'] },
      { measures: ['p95', 'unique:@subject_id', 'minimum'] },
      { measures: ['unique:model', 'average'] },
    ),
  })
  .map(({ limit, of, ...asked }) => ({
    ...of,
    ...asked,
    ...(limit === undefined ? {} : { limit }),
  }));

/** How long ago, in seconds, the events of one round happened. */
const round = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 600 }),
    fc.integer({ min: 0, max: DAY_S }),
    fc.integer({ min: 0, max: 15 * DAY_S }),
  ),
  { minLength: 1, maxLength: 12 },
);

/** The rows of a client that follows the guide. */
class ReservedAmount {
  rows: Rows;
  bucketSize: string;
  /** Whether something was sent in this round. */
  isNews = false;

  constructor(
    readonly query: AnalysisQuery,
    answer: AnalysisResult,
  ) {
    this.rows = answer.rows;
    this.bucketSize = answer.bucket_size;
  }

  async take(data: EventClient['events'][number]['data']): Promise<void> {
    this.isNews = true;
    const { bucket_size: size, from, to, buckets, rows } = data;
    if (size !== this.bucketSize) {
      this.rows = (await fixture.ask(this.query)).rows;
      this.bucketSize = size;
      return;
    }
    const sizeS = parseBucketSize(size);
    const shown = sizeS === undefined ? [null] : bucketStarts(from, to, sizeS, this.query.timezone ?? 'UTC');
    const kept = this.rows.filter(
      ({ bucket }) => !buckets.includes(bucket) && (shown as (number | null)[]).includes(bucket),
    );
    this.rows = [...kept, ...rows];
  }
}

it('sends exactly the changes between the past results and the present ones', async () => {
  let sentCount = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(query, { minLength: 1, maxLength: 5 }),
      fc.array(round, { minLength: 1, maxLength: ROUNDS_MAX }),
      async (queries, rounds) => {
        const client = await fixture.follow({ queries });
        expect((await client.next()).name).toBe('ready');
        const held = await Promise.all(
          queries.map(async (one) => new ReservedAmount(one, await fixture.ask(one))),
        );
        for (const [index, agos] of rounds.entries()) {
          // Less than the interval of heartbeats.
          fixture.api.clock.advanceMs(agos.length * 1_000);
          for (const one of held) one.isNews = false;
          await fixture.use(...agos.map((ago) => fixture.nowS - ago));
          await fixture.tick();
          const asked = await Promise.all(queries.map((one) => fixture.ask(one)));
          fixture.api.clock.advanceMs(HEARTBEAT_MS);
          await fixture.tick();
          for (const { name, data } of await client.untilBeat(index + 1)) {
            expect(name).toBe('buckets');
            await held[data.query]?.take(data);
            sentCount++;
          }
          for (const [at, { query: one, rows, isNews }] of held.entries()) {
            // Time alone changes nothing.
            if (!isNews && 'last_seconds' in one.time_range) continue;
            expect(sorted(rows)).toEqual(sorted(asked[at]?.rows ?? []));
          }
        }
        client.leave();
      },
    ),
    { numRuns: 6, endOnFailure: true },
  );
  expect(sentCount).toBeGreaterThan(5);
});

function sorted(rows: Rows): Rows {
  return [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
