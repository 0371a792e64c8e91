import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { transaction, withAdvisoryLock } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue, SegmentFiles } from '../../platform/queue/index.js';
import {
  batchRecord,
  createTestClickHouse,
  PipelineFixture,
  type TestClickHouse,
  testEvent,
  waitFor,
} from '../../testing/index.js';
import { createProjector } from './projector.js';
import { sweepSpool } from './spool.js';

/** The lock that a backup holds while files must stay. */
const BACKUP_LOCK = 'tollgate-backup';

describe('while a backup is under way', () => {
  let fixture: PipelineFixture;
  let house: TestClickHouse;

  beforeEach(async () => {
    [fixture, house] = await Promise.all([PipelineFixture.create(), createTestClickHouse()]);
  });
  afterEach(() => Promise.all([fixture.drop(), house.drop()]));

  const duringBackup = (work: () => Promise<void>) => withAdvisoryLock(fixture.postgres, BACKUP_LOCK, work);
  const spooled = () => readdir(fixture.folder);

  async function project(): Promise<void> {
    const observer = { stage: () => {}, group: () => {}, groupFailed: () => {}, spoolCorrupt: () => {} };
    const { postgres, spool } = fixture;
    const clock = new ManualClock(PipelineFixture.nowMs);
    await createProjector({ postgres, clickhouse: house.clickhouse, spool, clock, observer }).drain();
    expect(await fixture.rows('select from usage_batches')).toEqual([]);
  }

  async function rate(key: string): Promise<void> {
    await fixture.accept(batchRecord(fixture.project, [testEvent(key)]));
    await fixture.worker().drain();
  }

  it('files of projected batches stay, and leave with a sweep after it', async () => {
    await rate('a');
    await duringBackup(async () => {
      await project();
      expect(await sweepSpool(fixture.postgres, fixture.spool)).toBe(false);
      expect(await spooled()).toHaveLength(1);
    });
    expect(await sweepSpool(fixture.postgres, fixture.spool)).toBe(true);
    expect(await spooled()).toEqual([]);
    await rate('b');
    await project();
    expect(await spooled()).toEqual([]);
  });

  it('a worker that starts sweeps nothing before the end of the backup', async () => {
    await rate('a');
    const stop = new AbortController();
    const worker = fixture.worker({ lingerMs: 1 });
    let running = Promise.resolve();
    await duringBackup(async () => {
      await project();
      running = worker.run(stop.signal);
      await fixture.accept(batchRecord(fixture.project, [testEvent('b')]));
      worker.notify('appended');
      await waitFor(() => worker.stats().processed === 1);
      expect(await spooled()).toHaveLength(2);
    });
    await waitFor(async () => {
      worker.notify('appended');
      return (await spooled()).length === 1;
    });
    stop.abort();
    await running;
    await project();
    expect(await spooled()).toEqual([]);
  });

  it('files of rated segments stay, and leave with a sweep after it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-segments-'));
    const files = await SegmentFiles.open(folder);
    const queue = new PostgresSegmentQueue(fixture.postgres, files, { outsideBytesMin: 0 });
    const companion = { name: 'companion', text: 'select 1', values: [] };
    await queue.appendWith(companion, [batchRecord(fixture.project, [testEvent('a')])]);
    await duringBackup(async () => {
      expect(await transaction(fixture.postgres, (tx) => queue.claim(tx, 10))).toHaveLength(1);
      await queue.sweepStore();
      // The file is not written again either.
      await queue.appendWith(companion, [batchRecord(fixture.project, [testEvent('b')])]);
      expect(await readdir(folder)).toHaveLength(2);
      expect(await transaction(fixture.postgres, (tx) => queue.claim(tx, 10))).toHaveLength(1);
    });
    for (let i = 0; i < 2; i++) await queue.sweepStore();
    expect(await readdir(folder)).toEqual([]);
    await files.close();
    await rm(folder, { recursive: true });
  });
});
