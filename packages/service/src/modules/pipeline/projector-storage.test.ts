import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { outdatedViews } from '../../platform/clickhouse/index.js';
import {
  batchRecord,
  createProject,
  createTestClickHouse,
  PipelineFixture,
  restoreFormerViews,
  type TestClickHouse,
  type TestProject,
  testEvent,
  waitFor,
} from '../../testing/index.js';
import { storageTables } from '../storage/index.js';
import type { BatchStage, ProjectionStage } from './observer.js';
import { createProjector, type ProjectorDeps } from './projector.js';
import { ProjectorSession } from './projector-store.js';
import { createColumnSpool } from './spool.js';

let fixture: PipelineFixture;
let house: TestClickHouse;
let shared: TestProject;
let own: TestProject;
let other: TestProject;
let killAfter: ProjectionStage | undefined;
let keys: number;
const failures: unknown[] = [];

beforeEach(async () => {
  [fixture, house] = await Promise.all([PipelineFixture.create(), createTestClickHouse()]);
  shared = fixture.project;
  own = await createProject(fixture.postgres, 'ten_a', 'prj_own', 'dedicated');
  other = await createProject(fixture.postgres, 'ten_a', 'prj_other', 'dedicated');
  await Promise.all([own, other].map(({ projectNo }) => house.provision(projectNo)));
  [killAfter, keys, failures.length] = [undefined, 0, 0];
});

afterEach(async () => {
  await Promise.all([fixture.drop(), house.drop()]);
});

function projector(clickhouse: ProjectorDeps['clickhouse'] = house.clickhouse, onGroup = (_: number) => {}) {
  const { postgres, spool } = fixture;
  const observer = {
    stage: (stage: ProjectionStage) => {
      if (stage === killAfter) throw new Error(`killed after ${stage}`);
    },
    group: onGroup,
    groupFailed: (error: unknown) => void failures.push(error),
    spoolCorrupt: () => {},
  };
  return createProjector({
    postgres,
    clickhouse,
    spool,
    clock: new ManualClock(PipelineFixture.nowMs),
    observer,
  });
}

/** Commits one batch with a number of new events of each project, one of them failed, in mixed order. */
async function rate(counts: readonly (readonly [TestProject, number])[]): Promise<void> {
  const records = counts.flatMap(([project, count]) =>
    Array.from({ length: count }, (_, index) =>
      batchRecord(project, [testEvent(`k${keys++}`, index === 1 ? { raw_json: {} } : {})]),
    ),
  );
  // Mixes the projects, so that rows of the same tables are not adjacent.
  records.sort((a, b) => a.ids.compare(b.ids));
  await fixture.queue.append(records);
  await fixture.worker().drain();
}

/** Expects each project's history in its tables and nowhere else, as it was committed. */
async function expectProjected(): Promise<void> {
  expect(await fixture.rows('select from usage_batches')).toEqual([]);
  expect(await readdir(fixture.folder)).toEqual([]);
  const totals = (await fixture.rows(
    `select e.project_id, e.processed::text, e.failed::text, t.items::text, t.quantity, t.amount, t.cost from
      (select project_id, sum(processed_count) as processed, sum(failed_count) as failed
       from usage_event_totals group by 1) e
      join (select project_id, sum(item_count) as items, sum(quantity) as quantity, sum(amount) as amount,
       sum(cost) as cost from usage_totals group by 1) t using (project_id) order by 1`,
  )) as { project_id: string }[];
  const events: unknown[] = [];
  for (const project of [own, other, shared].sort((a, b) => (a.projectId < b.projectId ? -1 : 1))) {
    const tables = storageTables(project);
    // Without FINAL: a repeated insert must not have left a second copy to be merged away.
    events.push(
      ...(await house.clickhouse.query(
        `select project_id, toString(countIf(status = 'processed')) as processed,
          toString(countIf(status = 'failed')) as failed, toString(sum(length(item.metric))) as items,
          toString(sum(arraySum(item.quantity))) as quantity, toString(sum(arraySum(item.amount))) as amount,
          toString(sum(arraySum(item.cost_amount))) as cost
        from ${tables.events} group by project_id`,
      )),
    );
    for (const resolution of [60, 900]) {
      const { items, quantity, amount, cost } = totals.find(
        ({ project_id }) => project_id === project.projectId,
      ) as never;
      expect(
        await house.clickhouse.query(
          `select project_id, toString(sum(item_count)) as items, toString(sum(quantity)) as quantity,
            toString(sum(amount)) as amount, toString(sum(cost)) as cost
          from ${tables.rollup} where resolution = ${resolution} group by project_id`,
        ),
      ).toEqual([{ project_id: project.projectId, items, quantity, amount, cost }]);
    }
  }
  expect(events).toEqual(totals);
}

const MIXED = () =>
  [
    [shared, 4],
    [own, 3],
    [other, 2],
  ] as const;

/** Sweeps the spool as a worker does when it starts. */
async function sweep(): Promise<void> {
  const stop = new AbortController();
  const running = fixture.worker().run(stop.signal);
  await waitFor(async () => (await readdir(fixture.folder)).length === 0);
  stop.abort();
  await running;
}

describe('projects with tables of their own', () => {
  it('reads the state of the projection once per group', async () => {
    const read = vi.spyOn(ProjectorSession.prototype, 'state');
    const readsOf = async (groups: number) => {
      read.mockClear();
      const projected: number[] = [];
      await projector(house.clickhouse, (events) => projected.push(events)).drain();
      expect(projected).toHaveLength(groups);
      return read.mock.calls.length;
    };
    const withoutGroup = await readsOf(0);
    await rate([
      [shared, 1],
      [own, 1],
    ]);
    expect((await readsOf(2)) - withoutGroup).toBe(2);
    read.mockRestore();
  });

  it('share batches with others, and no file, group or table', async () => {
    await rate(MIXED());
    expect(
      await fixture.rows(
        'select dedicated_to, event_count, item_count, project_ids from usage_batches order by dedicated_to nulls first',
      ),
    ).toEqual([
      { dedicated_to: null, event_count: 4, item_count: 3, project_ids: ['prj_a'] },
      { dedicated_to: own.projectNo, event_count: 3, item_count: 2, project_ids: ['prj_own'] },
      { dedicated_to: other.projectNo, event_count: 2, item_count: 1, project_ids: ['prj_other'] },
    ]);
    expect(await readdir(fixture.folder)).toHaveLength(3);
    await rate(MIXED());
    const groups: number[] = [];
    await projector(undefined, (events) => groups.push(events)).drain();
    expect(groups).toEqual([8, 6, 4]);
    await expectProjected();
  });

  it('cost a batch without them nothing: no second file', async () => {
    await rate([[shared, 3]]);
    expect(await fixture.rows('select dedicated_to, event_count from usage_batches')).toEqual([
      { dedicated_to: null, event_count: 3 },
    ]);
  });

  it.each<ProjectionStage>(['group', 'read', 'record', 'insert', 'delete', 'unlink'])(
    'are projected once when the projector dies after each %s',
    async (stage) => {
      await rate(MIXED());
      for (const _ of MIXED()) {
        killAfter = stage;
        await expect(projector().drain()).rejects.toThrow('killed');
        killAfter = undefined;
        // Arrives after the group was formed, and must not change it.
        await rate(MIXED());
      }
      await projector().drain();
      await sweep();
      await expectProjected();
    },
  );

  it.each<BatchStage>(['rate', 'spool', 'totals', 'commit'])(
    'agree with what was committed when the worker dies after %s',
    async (stage) => {
      await rate(MIXED());
      fixture.killAfter = stage;
      await expect(rate(MIXED())).rejects.toThrow('killed');
      fixture.killAfter = undefined;
      await fixture.worker().drain();
      await projector().drain();
      await sweep();
      await expectProjected();
    },
  );

  it('keep their rows apart in the database, too', async () => {
    const spool = createColumnSpool();
    await rate(MIXED());
    for (const row of (await fixture.rows('select id, spool_file from usage_batches')) as Record<
      string,
      never
    >[]) {
      const bytes = await fixture.spool.read({ spoolFile: row.spool_file ?? null, bytes: null });
      const [location] = await spool.put([[bytes]]);
      await fixture.postgres.pool.query(
        'update usage_batches set spool_file = null, bytes = $2 where id = $1',
        [row.id, location?.bytes],
      );
    }
    await sweep();
    const { postgres } = fixture;
    const clock = new ManualClock(PipelineFixture.nowMs);
    const observer = { stage: () => {}, group: () => {}, groupFailed: () => {}, spoolCorrupt: () => {} };
    await createProjector({ postgres, clickhouse: house.clickhouse, spool, clock, observer }).drain();
    await expectProjected();
  });

  it('hold up nobody else when their tables cannot be written to', async () => {
    await rate(MIXED());
    const broken: ProjectorDeps['clickhouse'] = {
      upToDate: (tables) => house.clickhouse.upToDate(tables),
      command: (...call) => house.clickhouse.command(...call),
      insertRows: async (table, ...rest) => {
        if (table === storageTables(own).events) throw new Error('this table is broken');
        await house.clickhouse.insertRows(table, ...rest);
      },
    };
    const stop = new AbortController();
    const running = projector(broken).run(stop.signal);
    const left = () => fixture.rows('select distinct dedicated_to from usage_batches');
    await waitFor(async () => (await left()).length === 1);
    await rate([
      [shared, 2],
      [own, 1],
      [other, 1],
    ]);
    await waitFor(async () => (await left()).length === 1);
    stop.abort();
    await running;
    expect(await left()).toEqual([{ dedicated_to: own.projectNo }]);
    expect(failures.length).toBeGreaterThan(0);
    await projector().drain();
    await expectProjected();
  });

  it('wait for all views of ClickHouse when some of them were replaced', async () => {
    await rate(MIXED());
    const suffix = `_${own.projectNo}`;
    await restoreFormerViews(house.clickhouse, suffix);
    const [first = '', ...others] = await outdatedViews(house.clickhouse, [suffix]);
    await house.clickhouse.command(first);
    await expect(projector().drain()).rejects.toThrow('until tollgate migrate has run');
    expect(await fixture.rows('select from usage_batches where insert_group is not null')).toEqual([]);
    for (const other of others) await house.clickhouse.command(other);
    await projector().drain();
    await expectProjected();
  });

  it('do not wait for the tables of a project that could not be created', async () => {
    await house.provision(999);
    await restoreFormerViews(house.clickhouse, '_999');
    const [first = ''] = await outdatedViews(house.clickhouse, ['_999']);
    await house.clickhouse.command(first);
    await rate(MIXED());
    await projector().drain();
    await expectProjected();
  });
});
