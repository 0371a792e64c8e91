import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  batchRecord,
  PipelineFixture,
  reprocessRecord,
  TEST_DAY,
  type TestEvent,
  testEvent,
} from '../../../testing/index.js';
import { PostingFixture } from './posting.testing.js';

const DAY_START_S = TEST_DAY * 86_400;
const SUBJECTS = 20;

/** An event of 2 USD of one of the subjects. */
function eventOf(index: number, fields: Partial<TestEvent> = {}): TestEvent {
  return testEvent(`k${index}`, {
    subject_type: 'user',
    subject_id: `u${String(index % SUBJECTS).padStart(2, '0')}`,
    ...fields,
  });
}

describe('workers that post', () => {
  let pipeline: PipelineFixture;
  let fixture: PostingFixture;
  let ruleNo: number;

  beforeEach(async () => {
    pipeline = await PipelineFixture.create();
    fixture = PostingFixture.of(pipeline.postgres, pipeline.project);
    [ruleNo = 0] = await fixture.publish('ulp_1', [{ key: 'daily', limit: '20', notifyAt: [50] }]);
    await fixture.route({ planId: 'ulp_1' });
  });

  afterEach(() => pipeline.drop());

  /** Expects `each` events of 2 USD for every subject, and every alert once. */
  async function expectPosted(each: number): Promise<void> {
    const subjects = Array.from({ length: SUBJECTS }, (_, index) => `u${String(index).padStart(2, '0')}`);
    expect(await fixture.windows()).toEqual(
      subjects.map((subject_id) => ({
        subject_id,
        rule_no: ruleNo,
        window_start: DAY_START_S,
        used: String(2 * each),
        limit: '20',
      })),
    );
    expect(await fixture.wallets()).toEqual([
      { account_id: 'acct_a', currency: 'USD', worth: String(-2 * each * SUBJECTS) },
    ]);
    const percents = [50, 100].filter((percent) => 2 * each >= (20 * percent) / 100);
    expect(await fixture.crossings()).toEqual(
      subjects
        .flatMap((id) => percents.map((percent) => `limit ${ruleNo} ${DAY_START_S} ${percent} user ${id}`))
        .sort(),
    );
  }

  it('post each event once when it comes again', async () => {
    const events = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index));
    await pipeline.accept(batchRecord(pipeline.project, events), batchRecord(pipeline.project, events));
    await pipeline.worker({ batchEventsMax: 30 }).drain();
    await pipeline.accept(batchRecord(pipeline.project, events.toReversed()));
    await pipeline.worker().drain();
    await expectPosted(5);
  });

  it.each(['spool', 'post', 'totals'] as const)('post a batch once that died after %s', async (stage) => {
    const events = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index));
    await pipeline.accept(batchRecord(pipeline.project, events));
    pipeline.killAfter = stage;
    await expect(pipeline.worker().drain()).rejects.toThrow('killed');
    expect(await fixture.windows()).toEqual([]);
    expect(await fixture.crossings()).toEqual([]);
    expect(await fixture.rows('select from ledger_transactions')).toEqual([]);
    pipeline.killAfter = undefined;
    await pipeline.worker().drain();
    await expectPosted(5);
  });

  it('post an event that is rated again once it has a price', async () => {
    const failing = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index, { raw_json: {} }));
    await pipeline.accept(batchRecord(pipeline.project, failing));
    await pipeline.worker().drain();
    expect(await fixture.windows()).toEqual([]);
    pipeline.isMended = true;
    const ids = await fixture.rows(`select encode(uuid_send(raw_event_id), 'hex') as id from failed_events`);
    await pipeline.accept(
      reprocessRecord(
        pipeline.project,
        ids.map(({ id }) => String(id)),
      ),
    );
    await pipeline.worker().drain();
    await expectPosted(5);
  });

  it('work on the same subjects at once, and wait for each other in no circle', async () => {
    const events = Array.from({ length: 30 * SUBJECTS }, (_, index) => eventOf(index));
    await pipeline.rateCompeting(events, 25);
    expect(pipeline.failures).toEqual([]);
    await expectPosted(30);
  });

  it('post each event once though their connections are cut again and again', async () => {
    const events = Array.from({ length: 10 * SUBJECTS }, (_, index) => eventOf(index));
    for (let start = 0; start < events.length; start += 5) {
      await pipeline.accept(batchRecord(pipeline.project, events.slice(start, start + 5)));
    }
    const stop = new AbortController();
    const running = pipeline.worker({ batchEventsMax: 10, lingerMs: 1 }).run(stop.signal);
    await pipeline.cutWhileRunning(4);
    stop.abort();
    await running;
    await expectPosted(10);
  });
});
