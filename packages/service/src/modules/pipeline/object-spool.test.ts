import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { type ObjectStore, ObjectStoreError, sweepUnusedObjects } from '../../platform/object-store/index.js';
import { PostgresSegmentQueue, SegmentObjects, segmentObjects } from '../../platform/queue/index.js';
import {
  batchRecord,
  createProject,
  createTestClickHouse,
  createTestPostgres,
  openMarkedStore,
  passingOn,
  type TestClickHouse,
  type TestPostgres,
  type TestProject,
  testEvent,
  testRules,
  useObjectStoreKinds,
} from '../../testing/index.js';
import { createWorkerCatalog } from '../limits/index.js';
import { EventQuotas } from '../quotas/index.js';
import type { BatchStage, ProjectionStage } from './observer.js';
import { createProjector } from './projector.js';
import { createColumnSpool, createObjectSpool, spooledObjects } from './spool.js';
import { createPipelineWorker } from './worker.js';

const DAY_MS = 86_400_000;
const CORRUPT_RETRY_MS = 60_000;
/** Large enough for an object. */
const PADDING = 'x'.repeat(70_000);

const stores = useObjectStoreKinds();

describe.each(stores.kinds)('the pipeline with an object store at %s', (_kind, urlOf) => {
  let test: TestPostgres;
  let house: TestClickHouse;
  let project: TestProject;
  let store: ObjectStore;
  /** Passes calls on to `store`; a test may replace an operation. */
  let given: ObjectStore;
  let queue: PostgresSegmentQueue;
  let clock: ManualClock;
  let killAfter: BatchStage | ProjectionStage | undefined;
  let corrupt: string[];
  let sent: number;

  beforeEach(async () => {
    [test, house] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    project = await createProject(test.postgres, 'ten_a', 'prj_a');
    store = await openMarkedStore(urlOf());
    given = passingOn(store);
    queue = new PostgresSegmentQueue(test.postgres, new SegmentObjects(given));
    clock = new ManualClock(1_750_000_100_000);
    [killAfter, corrupt, sent] = [undefined, [], 0];
  });
  afterEach(async () => {
    await Promise.all([test.drop(), house.drop(), store.close()]);
  });

  const observer = {
    stage: (stage: BatchStage | ProjectionStage) => {
      if (stage === killAfter) throw new Error(`killed after ${stage}`);
    },
    batch: () => {},
    group: () => {},
    batchFailed: () => {},
    groupFailed: () => {},
    spoolCorrupt: ({ spoolFile }: { spoolFile: string }) => corrupt.push(spoolFile),
    defect: () => {},
  };

  async function accept(count: number): Promise<void> {
    const events = Array.from({ length: count }, () =>
      testEvent(`k${sent++}`, { metadata: {}, raw_json: { padding: PADDING } }),
    );
    const records = [{ record: batchRecord(project, events), monthlyEventLimit: -1 }];
    await new EventQuotas(test.postgres, queue).appendWithinQuota(records);
  }

  function worker(spool = createObjectSpool(given)) {
    const rules = testRules(() => true);
    const limits = createWorkerCatalog();
    const { postgres } = test;
    return createPipelineWorker({
      postgres,
      queue,
      spool,
      rules,
      limits,
      clock,
      observer,
      onCommitted: () => {},
    });
  }

  function projector() {
    const { clickhouse } = house;
    const spool = createObjectSpool(given);
    return createProjector({ postgres: test.postgres, clickhouse, spool, clock, observer });
  }

  async function keys(): Promise<string[]> {
    const of = async (name: string) =>
      (await store.list({ folder: name, beforeMs: Date.now() + DAY_MS })).keys;
    return [...(await of('segments')), ...(await of('rows'))];
  }

  /** Expects every accepted event in ClickHouse once, and no object that is left. */
  async function expectProjected(): Promise<void> {
    const [rows] = await house.clickhouse.query(
      'select toInt32(count()) as events, toInt32(uniqExact(raw_event_id)) as ids from usage_events',
    );
    expect(rows).toEqual({ events: sent, ids: sent });
    await queue.sweepStore();
    for (const kind of [segmentObjects(queue), spooledObjects(test.postgres)]) {
      expect(await kind.isInUse()).toBe(false);
      await sweepUnusedObjects(store, kind, Date.now() + 2 * DAY_MS);
    }
    expect(await keys()).toEqual([]);
  }

  it('takes events from their segment to ClickHouse, and stores none of their bytes in PostgreSQL', async () => {
    await accept(2);
    await accept(3);
    expect(await keys()).toHaveLength(2);
    await worker().drain();
    const { rows } = await test.postgres.pool.query('select spool_file, bytes from usage_batches');
    expect(rows).toEqual([{ spool_file: expect.stringMatching(/^rows\/.*\.native$/), bytes: null }]);
    await queue.sweepStore();
    expect(await keys()).toEqual([rows[0].spool_file]);
    expect(await projector().drain()).toBe(5);
    expect(await keys()).toEqual([]);
    await expectProjected();
  });

  it.each<BatchStage>(['claim', 'rate', 'spool', 'totals', 'commit'])(
    'rates each event once when the worker dies after %s',
    async (stage) => {
      await accept(2);
      killAfter = stage;
      await expect(worker().drain()).rejects.toThrow('killed');
      await queue.sweepStore();
      killAfter = undefined;
      await worker().drain();
      await projector().drain();
      await expectProjected();
    },
  );

  it.each<ProjectionStage>(['read', 'record', 'insert', 'delete', 'unlink'])(
    'projects each event once when the projector dies after %s',
    async (stage) => {
      await accept(2);
      await worker().drain();
      killAfter = stage;
      await expect(projector().drain()).rejects.toThrow('killed');
      killAfter = undefined;
      await accept(1);
      await worker().drain();
      await projector().drain();
      await expectProjected();
    },
  );

  it('loses nothing while the store is unavailable', async () => {
    const away = async () => {
      throw new ObjectStoreError('do anything', new Error('away'));
    };
    await accept(2);
    given.get = away;
    await expect(worker().drain()).rejects.toThrow('away');
    given.get = (...call) => store.get(...call);
    given.put = away;
    await expect(worker().drain()).rejects.toThrow('away');
    given.put = (...call) => store.put(...call);
    await worker().drain();
    given.get = away;
    await expect(projector().drain()).rejects.toThrow('away');
    given.get = (...call) => store.get(...call);
    await projector().drain();
    expect(corrupt).toEqual([]);
    await expectProjected();
  });

  it.each<[string, (bytes: Buffer) => Buffer | undefined]>([
    ['is missing', () => undefined],
    ['is cut off', (bytes) => bytes.subarray(1)],
    [
      'has other bytes',
      (bytes) => Buffer.concat([Buffer.from([255 - bytes.readUInt8(0)]), bytes.subarray(1)]),
    ],
  ])('holds rows back whose object %s, and tries them again', async (_what, damage) => {
    await accept(2);
    await worker().drain();
    const [damaged = ''] = (await keys()).filter((key) => key.startsWith('rows/'));
    const copies = projector();
    killAfter = 'group';
    await expect(copies.drain()).rejects.toThrow('killed');
    killAfter = undefined;
    await accept(3);
    await worker().drain();
    given.get = async (key, range) => {
      const bytes = await store.get(key, range);
      return key === damaged && bytes !== undefined ? damage(bytes) : bytes;
    };
    expect(await copies.drain()).toBe(3);
    expect(corrupt).toEqual([damaged]);
    given.get = (...call) => store.get(...call);
    clock.advanceMs(CORRUPT_RETRY_MS);
    expect(await copies.drain()).toBe(2);
    await expectProjected();
  });

  it('also projects rows that are still in the database', async () => {
    await accept(2);
    await worker(createColumnSpool()).drain();
    await projector().drain();
    await expectProjected();
  });

  it('is swept of old rows without a batch, and of nothing else', async () => {
    await accept(2);
    await worker().drain();
    const [live] = (await keys()).filter((key) => key.startsWith('rows/'));
    await createObjectSpool(store).put([[Buffer.from('orphan')]]);
    const sweep = (nowMs: number) => sweepUnusedObjects(store, spooledObjects(test.postgres), nowMs);
    expect(await sweep(Date.now() + DAY_MS / 2)).toBe(0);
    expect(await sweep(Date.now() + 2 * DAY_MS)).toBe(1);
    expect((await keys()).filter((key) => key.startsWith('rows/'))).toEqual([live]);
    await projector().drain();
    await expectProjected();
  });
});
