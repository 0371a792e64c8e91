import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ObjectStore, openOwnFolder } from '../../platform/object-store/index.js';
import { PostgresSegmentQueue, SegmentObjects } from '../../platform/queue/index.js';
import { batchRecord, testEvent } from '../../testing/index.js';
import { EventQuotas } from '../quotas/index.js';
import { findLost } from './lost.js';
import { rebuildHistory } from './rebuild.js';
import { HistoryFixture } from './rebuild.testing.js';

const REASON = 'The disk of region A is gone.';
/** Large enough for an object. */
const PADDING = 'x'.repeat(70_000);

let fixture: HistoryFixture;
let root: string;
let objects: ObjectStore;
beforeAll(async () => {
  fixture = await HistoryFixture.create();
  root = await mkdtemp(join(tmpdir(), 'tollgate-objects-'));
  objects = await openOwnFolder(join(root, 'segments'));
});
afterAll(async () => {
  await objects.close();
  await Promise.all([fixture.drop(), rm(root, { recursive: true, force: true })]);
});

function find(isGivenUp = false) {
  const { spool } = fixture.pipeline;
  const givingUp = { atMs: fixture.clock.nowMs(), reason: REASON, requestId: 'req_1' };
  return findLost({ ...fixture.deps(), spool, objects }, isGivenUp ? givingUp : undefined);
}

function audited(): Promise<unknown[]> {
  return fixture.pipeline.rows(
    "select resource_id, change->>'event_count' as events from audit_log where action = 'usage_loss.give_up' order by 1",
  );
}

it('finds nothing while every object is there', async () => {
  await fixture.rate(3, 40);
  await fixture.project();
  await fixture.rate(2);
  expect(await find()).toEqual({ object_count: 0, event_count: 0, given_up: false, objects: [] });
});

it('gives up rows that did not reach ClickHouse, and the rest of their group follows', async () => {
  const { pipeline } = fixture;
  const { project } = pipeline;
  await fixture.rate(4, 0, [project]);
  fixture.killAfter = 'record';
  await expect(fixture.project()).rejects.toThrow('killed after record');
  fixture.killAfter = undefined;
  const [first] = (await pipeline.rows(
    'select id, spool_file, insert_group, insert_token from usage_batches where dedicated_to is null order by id',
  )) as { id: number; spool_file: string; insert_group: number; insert_token: string }[];
  if (first === undefined) throw new Error('no batch waits');
  expect(first.insert_group).toBe(first.id);
  await rm(join(pipeline.folder, first.spool_file));

  // The rows of the other project do not wait for them.
  expect(await fixture.project()).toBe(2);
  const lost = {
    ...{
      kind: 'rated',
      number: first.id,
      object_key: first.spool_file,
      problem: 'is missing',
      event_count: 2,
    },
    projects: [
      {
        ...{ tenant_id: project.tenantId, project_id: project.projectId, event_count: 2 },
        ...{ first_day: '2025-06-15', last_day: '2025-06-15' },
      },
    ],
  };
  expect(await find()).toMatchObject({ object_count: 1, event_count: 2, objects: [lost] });
  expect(await audited()).toEqual([]);
  expect(await fixture.verifyStatus()).toBe('unsettled');

  expect(await find(true)).toMatchObject({ object_count: 1, given_up: true, objects: [lost] });
  expect(await audited()).toEqual([{ resource_id: `rated-${first.id}`, events: '2' }]);
  expect(await pipeline.rows('select insert_group = id as leads, insert_token from usage_batches')).toEqual([
    { leads: true, insert_token: first.insert_token },
  ]);
  expect(await fixture.project()).toBe(4);
  expect(await fixture.verify()).toMatchObject({
    ...{ status: 'equal', difference_count: 0 },
    losses: { loss_count: 1, days: 1, losses: [{ kind: 'rated', event_count: 2, reason: REASON }] },
  });
  expect(await find(true)).toMatchObject({ object_count: 0 });
});

it('does not take other missing rows for known ones', async () => {
  const { clickhouse } = fixture.house;
  const { projectId } = fixture.pipeline.project;
  await clickhouse.command(
    `ALTER TABLE usage_events DELETE WHERE project_id = '${projectId}' AND occurred_at >= '2025-06-15 00:00:00'
     SETTINGS mutations_sync = 2`,
  );
  const report = await fixture.verify();
  expect(report.status).toBe('different');
  expect(report.losses.days).toBe(0);
  await rebuildHistory(fixture.deps());
  expect(await fixture.verify()).toMatchObject({ status: 'equal', losses: { days: 1 } });
});

it('gives up blocks of the archive, whose rows stay until a rebuild', async () => {
  const { archived } = fixture;
  const [damaged, missing] = (await fixture.pipeline.rows(
    'select id, object_key as key from archived_blocks order by id limit 2',
  )) as { id: number; key: string }[];
  if (damaged === undefined || missing === undefined) throw new Error('too few blocks');
  await writeFile(join(archived.folder, '..', damaged.key), 'damaged');
  await rm(join(archived.folder, '..', missing.key));
  expect(await find()).toMatchObject({
    object_count: 2,
    objects: [
      { kind: 'archived', number: damaged.id, problem: expect.stringContaining('bytes instead of') },
      { kind: 'archived', number: missing.id, problem: 'is missing' },
    ],
  });
  expect(await find(true)).toMatchObject({ object_count: 2, given_up: true });
  expect(await fixture.verify()).toMatchObject({ status: 'equal', losses: { days: 1 } });
  await expect(rebuildHistory(fixture.deps())).rejects.toThrow('--incomplete');
  await rebuildHistory(fixture.deps(), { incomplete: true });
  const report = await fixture.verify();
  expect(report).toMatchObject({ status: 'equal', difference_count: 0 });
  expect(report.losses.days).toBeGreaterThan(1);
});

it('records what a rebuild gives up', async () => {
  await fixture.rate(2, 1);
  await fixture.project();
  const { archived } = fixture;
  const names = await readdir(archived.folder);
  for (const name of names) await rm(join(archived.folder, name));
  await rebuildHistory(fixture.deps(), { incomplete: true });
  expect(await fixture.verify()).toMatchObject({ status: 'equal', difference_count: 0 });
});

it('gives up received events, which stay counted', async () => {
  const { pipeline } = fixture;
  const { postgres, project } = pipeline;
  const queue = new PostgresSegmentQueue(postgres, new SegmentObjects(objects));
  const events = [1, 2].map((key) => testEvent(`lost${key}`, { raw_json: { padding: PADDING } }));
  const record = batchRecord(project, events);
  await new EventQuotas(postgres, queue).appendWithinQuota([{ record, monthlyEventLimit: -1 }]);
  const [segment] = (await pipeline.rows('select id, file_name as key from segments')) as {
    id: number;
    key: string;
  }[];
  if (segment === undefined) throw new Error('no segment waits');
  expect(await find()).toMatchObject({ object_count: 0 });
  await objects.delete([segment.key]);
  const lost = { kind: 'received', number: segment.id, object_key: segment.key, event_count: 2 };
  expect(await find()).toMatchObject({ object_count: 1, objects: [lost] });
  expect(await find(true)).toMatchObject({ object_count: 1, objects: [lost] });
  expect(await pipeline.rows('select from segments')).toEqual([]);
  expect(await fixture.verify()).toMatchObject({ status: 'equal', quotas: { difference_count: 0 } });

  const again = batchRecord(project, events);
  await pipeline.accept(again);
  await pipeline.worker().drain();
  await fixture.project();
  expect(await fixture.verify()).toMatchObject({ status: 'equal', quotas: { difference_count: 0 } });
});

it('gives up a segment that was set aside because it is damaged, with its bytes', async () => {
  const { pipeline } = fixture;
  const { project } = pipeline;
  await pipeline.accept(batchRecord(project, [testEvent('damaged-1'), testEvent('damaged-2')]));
  const [segment] = (await pipeline.rows(`update segments set bytes = 'damaged' returning id`)) as {
    id: number;
  }[];
  await pipeline.worker().drain();
  const lost = {
    kind: 'received',
    number: segment?.id,
    object_key: `unreadable_segments/${segment?.id}`,
    problem: expect.stringMatching(/^is unreadable: ./),
    event_count: 2,
    projects: [
      { tenant_id: project.tenantId, project_id: project.projectId, event_count: 2, first_day: null },
    ],
  };
  expect(await find()).toMatchObject({ object_count: 1, objects: [lost] });
  expect(await find(true)).toMatchObject({ object_count: 1, given_up: true, objects: [lost] });
  expect(await pipeline.rows('select from unreadable_segments')).toEqual([]);
  expect(await audited()).toContainEqual({ resource_id: `received-${segment?.id}`, events: '2' });
  expect(await find(true)).toMatchObject({ object_count: 0 });
  expect(await fixture.verify()).toMatchObject({ status: 'equal', quotas: { difference_count: 0 } });
});
