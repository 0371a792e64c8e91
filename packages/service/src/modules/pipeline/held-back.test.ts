import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import {
  batchRecord,
  createProject,
  PipelineFixture,
  type TestEvent,
  type TestProject,
  testEvent,
} from '../../testing/index.js';
import { mayWriteCorrections } from './defer.js';

const GIB = 1_024 ** 3;

function named(name: string, count = 2): TestEvent[] {
  return Array.from({ length: count }, (_, index) =>
    testEvent(`${name}${index}`, { raw_json: { name, tokens: 1 } }),
  );
}

describe('a project whose own tables take no rows', () => {
  let fixture: PipelineFixture;
  let own: TestProject;
  let sibling: TestProject;
  let others: readonly TestProject[];

  beforeEach(async () => {
    fixture = await PipelineFixture.create();
    const { postgres } = fixture;
    own = await createProject(postgres, 'ten_b', 'prj_own', 'dedicated');
    sibling = await createProject(postgres, 'ten_b', 'prj_sibling');
    others = [fixture.project, await createProject(postgres, 'ten_c', 'prj_other', 'dedicated')];
    await fixture.accept(batchRecord(own, named('first')));
    await fixture.worker().drain();
  });

  afterEach(() => fixture.drop());

  /** Rates a batch of the project, and lets its rows have so many bytes. */
  async function leaveRows(project: TestProject, bytes: number): Promise<void> {
    if (project !== own) {
      await fixture.accept(batchRecord(project, named('left')));
      await fixture.worker().drain();
    }
    const dedicatedTo = project.storage === 'dedicated' ? project.projectNo : null;
    await fixture.postgres.pool.query(
      'update usage_batches set byte_count = $1 where dedicated_to is not distinct from $2',
      [Math.round(bytes), dedicatedTo],
    );
  }

  it('delays only the events of its tenant, and these keep their order', async () => {
    await leaveRows(own, 5 * GIB);
    fixture.ratedNames.length = 0;
    const worker = fixture.worker();
    await fixture.accept(
      batchRecord(own, named('own')),
      batchRecord(sibling, named('sibling')),
      ...others.map((project) => batchRecord(project, named('other'))),
    );
    await worker.drain();
    expect(fixture.ratedNames).toEqual(Array(4).fill('other'));
    expect(await fixture.queue.backlog()).toMatchObject({ events: 4, deferredEvents: 4 });
    await fixture.accept(batchRecord(own, named('later')));
    await worker.drain();
    expect(fixture.ratedNames).toHaveLength(4);
    await fixture.postgres.pool.query('delete from usage_batches');
    await fixture.accept(batchRecord(own, named('last')));
    await worker.drain();
    const names = fixture.ratedNames.slice(4).filter((name) => name !== 'sibling');
    expect(names).toEqual(['own', 'own', 'later', 'later', 'last', 'last']);
    expect(await fixture.ingestTotals()).toMatchObject([
      { project_id: 'prj_a', processed_count: 2 },
      { project_id: 'prj_other', processed_count: 2 },
      { project_id: 'prj_own', processed_count: 8 },
      { project_id: 'prj_sibling', processed_count: 2 },
    ]);
  });

  it('does not keep deferred events of other tenants waiting', async () => {
    await leaveRows(own, 5 * GIB);
    fixture.ratedNames.length = 0;
    const [other] = others;
    if (other === undefined) throw new Error('there is no other project');
    await fixture.accept(batchRecord(own, named('own')), batchRecord(other, named('slow', 8)));
    await transaction(fixture.postgres, async (tx) => {
      const claimed = await fixture.queue.claim(tx, 100);
      await fixture.queue.defer(
        tx,
        claimed.flatMap(({ records }) => records),
      );
    });
    await fixture.worker().drain();
    expect(fixture.ratedNames).toEqual(Array(8).fill('slow'));
    expect(await fixture.queue.backlog()).toMatchObject({ events: 2, deferredEvents: 2 });
  });

  it.each([
    { gib: 2.9, deferredEvents: 0 },
    { gib: 3, deferredEvents: 2 },
  ])('may leave less than three quarters of the bound alone: $gib GiB', async ({ gib, deferredEvents }) => {
    await leaveRows(own, gib * GIB);
    await fixture.accept(batchRecord(own, named('own')));
    await fixture.worker().drain();
    expect(await fixture.queue.backlog()).toMatchObject({ events: deferredEvents, deferredEvents });
  });

  it.each([
    { batches: 14_999, deferredEvents: 0 },
    { batches: 15_000, deferredEvents: 2 },
  ])('may leave three quarters of the batches alone: $batches', async ({ batches, deferredEvents }) => {
    await fixture.postgres.pool.query(
      `insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids,
        dedicated_to, spool_file)
      select 0, 0, 1, 1, 1, '{prj_own}', $1, 'none' from generate_series(2, $2::integer)`,
      [own.projectNo, batches],
    );
    await fixture.accept(batchRecord(own, named('own')));
    await fixture.worker().drain();
    expect(await fixture.queue.backlog()).toMatchObject({ events: deferredEvents, deferredEvents });
  });

  it('shares the bound with other such projects', async () => {
    const [, other] = others;
    if (other === undefined) throw new Error('there is no other project');
    await leaveRows(other, GIB);
    await leaveRows(own, 2.3 * GIB);
    await fixture.accept(batchRecord(own, named('own')), batchRecord(other, named('other')));
    await fixture.worker().drain();
    expect(await fixture.queue.backlog()).toMatchObject({ events: 2, deferredEvents: 2 });
  });

  it('stops the corrections of its tenant in such projects, and no others', async () => {
    const may = () =>
      Promise.all(
        [own, sibling, ...others].map((project) =>
          transaction(fixture.postgres, (tx) => mayWriteCorrections(tx, project)),
        ),
      );
    expect(await may()).toEqual([true, true, true, true]);
    await leaveRows(own, 0.3 * GIB);
    expect(await may()).toEqual([false, true, true, true]);
    await leaveRows(sibling, 0.3 * GIB);
    expect(await may()).toEqual([false, false, false, true]);
  });
});
