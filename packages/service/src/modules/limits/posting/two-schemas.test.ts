import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../kernel/clock.js';
import { applyMigrations, oldestTransactionMs, withAdvisoryLock } from '../../../platform/postgres/index.js';
import {
  batchRecord,
  createTestPostgres,
  createTestSchema,
  PipelineFixture,
  type TestPostgres,
  testEvent,
  waitFor,
} from '../../../testing/index.js';
import { createProjector } from '../../pipeline/index.js';
import { PostingFixture } from './posting.testing.js';

const EVENTS = [1, 2, 3].map((index) => testEvent(`k${index}`, { subject_type: 'user', subject_id: 'u1' }));

const WAITING = `select from pg_locks where not granted and relation = 'usage_totals'::regclass
  and database = (select oid from pg_database where datname = current_database())`;

/** Installations in two schemas of one database. Their projects and batches have the same numbers. */
describe('installations in two schemas of one database', () => {
  let database: TestPostgres;
  let schemas: readonly [TestPostgres, TestPostgres];
  let one: PipelineFixture;
  let other: PipelineFixture;

  async function install(test: TestPostgres): Promise<PipelineFixture> {
    const pipeline = await PipelineFixture.create({ test });
    await PostingFixture.of(pipeline.postgres, pipeline.project).route();
    return pipeline;
  }

  beforeAll(async () => {
    database = await createTestPostgres({ isEmpty: true });
    schemas = [await createTestSchema(database, 'one'), await createTestSchema(database, 'other')];
    const [first, second] = schemas;
    const migrated = withAdvisoryLock(first.postgres, 'tollgate/migrations/postgres', () =>
      applyMigrations(second.postgres),
    );
    expect((await migrated).length).toBeGreaterThan(30);
    await applyMigrations(first.postgres);
    [one, other] = [await install(first), await install(second)];
  });
  afterAll(async () => {
    for (const fixture of [one, other]) await fixture.drop();
    await database.drop();
  });

  /** Rates events of the other installation while a batch of the first one waits for its last lock. */
  async function rateDuringBatch(): Promise<void> {
    const blocker = await one.postgres.pool.connect();
    await blocker.query('begin; lock table usage_totals in share mode');
    for (const fixture of [one, other]) await fixture.accept(batchRecord(fixture.project, EVENTS));
    const rating = one.worker().drain();
    await waitFor(async () => (await one.rows(WAITING)).length > 0);
    await other.worker().drain();
    expect(await oldestTransactionMs(one.postgres)).toBeGreaterThan(0);
    expect(await oldestTransactionMs(other.postgres)).toBe(0);
    expect(await one.ingestTotals()).toEqual([]);
    expect(await other.ingestTotals()).toMatchObject([{ processed_count: 3 }]);
    await blocker.query('commit');
    blocker.release();
    await rating;
  }

  it('rate and post at the same time, without waiting for locks of each other', async () => {
    await rateDuringBatch();
    for (const fixture of [one, other]) {
      expect(await fixture.ingestTotals()).toMatchObject([{ processed_count: 3 }]);
      expect(await fixture.rows('select from wallets')).toHaveLength(1);
      expect(await fixture.rows('select from event_arrival_counters where counter_no = 0')).toHaveLength(1);
    }
  });

  it('project groups of the same number at the same time', async () => {
    let thaw = () => {};
    const frozen = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    let isInserting = false;
    const hanging = projectorOf(one, () => {
      isInserting = true;
      return frozen;
    }).drain();
    await waitFor(() => isInserting);
    expect(await one.rows('select insert_group from usage_batches')).toEqual(
      await other.rows('select id as insert_group from usage_batches'),
    );
    expect(await projectorOf(other, async () => {}).drain()).toBe(3);
    expect(await other.rows('select from projections')).toHaveLength(1);
    thaw();
    expect(await hanging).toBe(3);
  });
});

function projectorOf({ postgres, spool, recordedGroups }: PipelineFixture, insertRows: () => Promise<void>) {
  return createProjector({
    ...{
      postgres,
      spool,
      clock: new ManualClock(PipelineFixture.nowMs),
      clickhouse: { ...recordedGroups, insertRows },
    },
    observer: { stage: () => {}, group: () => {}, groupFailed: () => {}, spoolCorrupt: () => {} },
  });
}
