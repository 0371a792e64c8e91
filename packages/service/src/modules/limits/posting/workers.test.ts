import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../../platform/postgres/index.js';
import {
  PipelineFixture,
  reprocessRecord,
  TEST_DAY,
  type TestEvent,
  testEvent,
  waitFor,
} from '../../../testing/index.js';
import { PostingFixture } from './posting.testing.js';
import { lockPosting } from './store.js';

const DAY_START_S = TEST_DAY * 86_400;
const SUBJECTS = 20;
const PROJECTS = 3;
/** Each append uses another number of shards, so that a project has segments in several. */
const CHANGING = [1, 3, 8, 64];

/** An event of 2 USD of one of the subjects. */
function eventOf(index: number, fields: Partial<TestEvent> = {}): TestEvent {
  return testEvent(`k${index}`, {
    subject_type: 'user',
    subject_id: `u${String(index % SUBJECTS).padStart(2, '0')}`,
    ...fields,
  });
}

describe.each([
  ['1 shard', [1]],
  ['8 shards', [8]],
  ['changing numbers of shards', CHANGING],
])('workers that post, with %s', (_shards, counts) => {
  let pipeline: PipelineFixture;
  /** One for each project. */
  let fixtures: PostingFixture[];
  let ruleNos: number[];

  beforeEach(async () => {
    let appends = 0;
    const shards = () => counts[appends++ % counts.length] ?? 1;
    pipeline = await PipelineFixture.create({ shards, projects: PROJECTS });
    fixtures = pipeline.projects.map((project) => PostingFixture.of(pipeline.postgres, project));
    ruleNos = [];
    for (const fixture of fixtures) {
      const { projectId } = fixture.project;
      const planId = `ulp_${projectId}`;
      ruleNos.push(...(await fixture.publish(planId, [{ key: 'daily', limit: '20', notifyAt: [50] }])));
      await fixture.route({ planId, accountId: `acct_${projectId}` });
    }
  });

  afterEach(() => pipeline.drop());

  /** Expects `each` events of 2 USD for every subject of every project, and every alert once. */
  async function expectPosted(each: number): Promise<void> {
    const subjects = Array.from({ length: SUBJECTS }, (_, index) => `u${String(index).padStart(2, '0')}`);
    const [fixture] = fixtures as [PostingFixture];
    expect(await fixture.windows()).toEqual(
      subjects.flatMap((subject_id) =>
        ruleNos.map((rule_no) => ({
          subject_id,
          rule_no,
          window_start: DAY_START_S,
          used: String(2 * each),
          limit: '20',
        })),
      ),
    );
    expect(await fixture.wallets()).toEqual(
      pipeline.projects.map(({ projectId }) => ({
        account_id: `acct_${projectId}`,
        currency: 'USD',
        worth: String(-2 * each * SUBJECTS),
      })),
    );
    const percents = [50, 100].filter((percent) => 2 * each >= (20 * percent) / 100);
    const alerts = subjects.flatMap((id) =>
      ruleNos.flatMap((ruleNo) =>
        percents.map((percent) => `limit ${ruleNo} ${DAY_START_S} ${percent} user ${id}`),
      ),
    );
    expect(await fixture.crossings()).toEqual(alerts.sort());
  }

  it('post each event once when it comes again', async () => {
    const events = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index));
    await pipeline.acceptForAll(events);
    await pipeline.acceptForAll(events);
    await pipeline.worker({ batchEventsMax: 30 }).drain();
    await pipeline.acceptForAll(events.toReversed());
    await pipeline.worker().drain();
    await expectPosted(5);
  });

  it.each(['spool', 'lock', 'post', 'totals'] as const)(
    'post a batch once that died after %s',
    async (stage) => {
      const [fixture] = fixtures as [PostingFixture];
      const events = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index));
      await pipeline.acceptForAll(events);
      pipeline.killAfter = stage;
      await expect(pipeline.worker().drain()).rejects.toThrow('killed');
      expect(await fixture.windows()).toEqual([]);
      expect(await fixture.crossings()).toEqual([]);
      expect(await fixture.rows('select from ledger_transactions')).toEqual([]);
      pipeline.killAfter = undefined;
      await pipeline.worker().drain();
      await expectPosted(5);
      const [failed, ...others] = pipeline.ended;
      expect(failed).toMatchObject({ errorType: 'Error', counts: {} });
      expect(failed?.stages.at(-1)?.stage).toBe(stage);
      expect(others.map(({ errorType }) => errorType)).toEqual(others.map(() => undefined));
      const processed = others.reduce((sum, { counts }) => sum + (counts.processed ?? 0), 0);
      expect(processed).toBe(events.length * PROJECTS);
    },
  );

  it('wait for the posting locks of others in a stage of its own', async () => {
    const { postgres, projects, stages } = pipeline;
    await pipeline.acceptForAll([eventOf(0)]);
    const waiting = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    let draining = Promise.resolve();
    await transaction(postgres, async (tx) => {
      await lockPosting(
        tx,
        projects.map(({ projectNo }) => projectNo),
      );
      draining = pipeline.worker().drain();
      await waitFor(async () => (await pipeline.rows(waiting)).length === 1);
      expect(stages.at(-1)).toBe('spool');
    });
    await draining;
    expect(stages.slice(stages.indexOf('spool')).slice(0, 3)).toEqual(['spool', 'lock', 'post']);
  });

  it('post an event that is rated again once it has a price', async () => {
    const [fixture] = fixtures as [PostingFixture];
    const failing = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index, { raw_json: {} }));
    await pipeline.acceptForAll(failing);
    await pipeline.worker().drain();
    expect(await fixture.windows()).toEqual([]);
    pipeline.isMended = true;
    for (const project of pipeline.projects) {
      const ids = await fixture.rows(
        `select encode(uuid_send(raw_event_id), 'hex') as id from failed_events where project_id = $1`,
        [project.projectId],
      );
      await pipeline.accept(
        reprocessRecord(
          project,
          ids.map(({ id }) => String(id)),
        ),
      );
    }
    await pipeline.worker().drain();
    await expectPosted(5);
  });

  it('work on the same subjects at once, and wait for each other in no circle', async () => {
    const events = Array.from({ length: 12 * SUBJECTS }, (_, index) => eventOf(index));
    await pipeline.rateCompeting(events, 25);
    expect(pipeline.failures).toEqual([]);
    await expectPosted(12);
  });

  it('post each event once though their connections are cut again and again', async () => {
    const events = Array.from({ length: 5 * SUBJECTS }, (_, index) => eventOf(index));
    for (let start = 0; start < events.length; start += 5) {
      await pipeline.acceptForAll(events.slice(start, start + 5));
    }
    const stop = new AbortController();
    const running = pipeline.worker({ batchEventsMax: 10, lingerMs: 1 }).run(stop.signal);
    await pipeline.cutWhileRunning(4);
    stop.abort();
    await running;
    await expectPosted(5);
  });
});
