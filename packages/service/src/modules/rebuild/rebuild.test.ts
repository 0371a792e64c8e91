import { readdir, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { openOwnFolder, sweepUnusedObjects } from '../../platform/object-store/index.js';
import { createProject, idHexOf, reprocessRecord, type TestProject, testEvent } from '../../testing/index.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { ArchiveDamagedError, archivedObjects } from '../archive/index.js';
import { provisionStorage } from '../storage/index.js';
import { rebuildHistory } from './rebuild.js';
import { HistoryFixture } from './rebuild.testing.js';

/** A creation has eight statements, so there is none at most moments of a rebuild; they are others in each run. */
const MOMENTS_APART = Math.ceil(4 / propertyRuns(1));

let fixture: HistoryFixture;
beforeEach(async () => {
  fixture = await HistoryFixture.create();
});
afterEach(() => fixture.drop());

const command = (sql: string) => fixture.house.clickhouse.command(sql);
const rebuild = () => rebuildHistory(fixture.deps());

/** Drops every table of ClickHouse, as if it were a new server. */
async function loseClickHouse(): Promise<void> {
  const tables = await fixture.house.clickhouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY engine != 'MaterializedView'`,
  );
  for (const { name } of tables) await command(`DROP TABLE ${name} SYNC`);
}

function methodsOf(clickhouse: ClickHouse): ClickHouse {
  return {
    query: clickhouse.query.bind(clickhouse),
    queryText: clickhouse.queryText.bind(clickhouse),
    exportRows: clickhouse.exportRows.bind(clickhouse),
    exportRowsUpTo: clickhouse.exportRowsUpTo.bind(clickhouse),
    command: clickhouse.command.bind(clickhouse),
    upToDate: clickhouse.upToDate.bind(clickhouse),
    systemTable: clickhouse.systemTable.bind(clickhouse),
    reachesAll: clickhouse.reachesAll.bind(clickhouse),
    insertsEnded: clickhouse.insertsEnded.bind(clickhouse),
    close: async () => {},
    insertRows: clickhouse.insertRows.bind(clickhouse),
  };
}

/** The same ClickHouse; `beforeInsert` runs before each insert. */
function withInsert(clickhouse: ClickHouse, beforeInsert: () => Promise<void>): ClickHouse {
  return {
    ...methodsOf(clickhouse),
    async insertRows(...call) {
      await beforeInsert();
      await clickhouse.insertRows(...call);
    },
  };
}

describe('a rebuild of the history', () => {
  it('gives a lost ClickHouse every row and sum back, and inserts go on', async () => {
    await fixture.rate(5, 40);
    await fixture.project();
    await fixture.rate(3);
    fixture.pipeline.isMended = true;
    const { project } = fixture.pipeline;
    const failed = testEvent('k4', { occurred_at: fixture.timeOf(40) });
    await fixture.pipeline.accept(reprocessRecord(project, [idHexOf(project, failed)]));
    await fixture.pipeline.worker().drain();
    await fixture.project();
    const before = await fixture.contents();
    expect(await fixture.verifyStatus()).toBe('equal');
    await loseClickHouse();
    await fixture.rate(2);
    const { events } = await rebuild();
    expect(events).toBe(17);
    expect(await fixture.contents()).toEqual(before);
    expect(await fixture.project()).toBe(4);
    expect(await fixture.verifyStatus()).toBe('equal');
  });

  it('replaces a history that is there, and forgets groups that were inserted and not ended', async () => {
    await fixture.rate(4);
    fixture.killAfter = 'insert';
    await expect(fixture.project()).rejects.toThrow('killed');
    fixture.killAfter = undefined;
    expect(await rebuild()).toEqual({ blocks: 0, events: 0 });
    expect(await fixture.project()).toBe(8);
    expect(await fixture.verifyStatus()).toBe('equal');
  });

  it('also works after blocks were joined', async () => {
    for (let round = 0; round < 33; round += 1) {
      await fixture.rate(1, round % 3, [fixture.pipeline.project]);
      await fixture.project();
    }
    const before = await fixture.contents();
    expect(await fixture.upkeep()).toBe(32);
    expect(await fixture.blocks()).toMatchObject([
      { level: 0, event_count: 1 },
      { level: 1, event_count: 32, project_ids: ['prj_a'] },
    ]);
    expect((await readdir(fixture.archived.folder)).length).toBe(2);
    expect(await fixture.upkeep()).toBe(0);
    await rebuild();
    expect(await fixture.contents()).toEqual(before);
  });

  it('needs no object to which no row points, which is swept a day later', async () => {
    await fixture.rate(2);
    await fixture.project();
    const before = await fixture.contents();
    await fixture.archived.archive.put([Buffer.from('left by a crash')]);
    const store = await openOwnFolder(join(fixture.archived.folder, '..'));
    const kind = archivedObjects(fixture.pipeline.postgres);
    const sweepAfterHours = (hours: number) =>
      sweepUnusedObjects(store, kind, Date.now() + hours * 3_600_000);
    expect(await sweepAfterHours(12)).toBe(0);
    expect(await sweepAfterHours(48)).toBe(1);
    await rebuild();
    expect(await fixture.contents()).toEqual(before);
  });

  it('stops inserts until it is complete when it was interrupted', async () => {
    await fixture.rate(2, 40);
    await fixture.project();
    await fixture.rate(2);
    await fixture.project();
    const before = await fixture.contents();
    let inserts = 0;
    const { clickhouse } = fixture.house;
    const dying = withInsert(clickhouse, async () => {
      if (++inserts === 2) throw new Error('killed');
    });
    await expect(rebuildHistory(fixture.deps(dying))).rejects.toThrow('killed');
    await fixture.rate(3);
    await expect(fixture.project()).rejects.toThrow('no projector may work');
    await rebuild();
    expect(await fixture.contents()).toEqual(before);
    expect(await fixture.project()).toBe(6);
    expect(await fixture.verifyStatus()).toBe('equal');
  });

  it('loses nothing of projects with tables of their own that are created meanwhile', async () => {
    const { postgres } = fixture.pipeline;
    const { clickhouse } = fixture.house;
    await fixture.rate(2);
    await fixture.project();
    // Its tables exist before its transaction is committed.
    const early = { projectNo: fixture.own.projectNo + 1 };
    await provisionStorage(clickhouse, early.projectNo);
    const created: TestProject[] = [];
    await rebuildHistory(
      fixture.deps(
        withInsert(clickhouse, async () => {
          if (created.length > 0) return;
          created.push(await createProject(postgres, 'ten_a', 'prj_early', 'dedicated'));
          expect(created).toMatchObject([early]);
          const late = await createProject(postgres, 'ten_a', 'prj_late', 'dedicated');
          await provisionStorage(clickhouse, late.projectNo);
          created.push(late);
          await fixture.rate(3, 0, created);
          const rows = (no: number) => clickhouse.query(`SELECT * FROM usage_events_${no}`);
          for (const { projectNo } of created) expect(await rows(projectNo)).toEqual([]);
        }),
      ),
    );
    expect(created).toHaveLength(2);
    expect(await fixture.project()).toBe(6);
    expect(await fixture.verifyStatus()).toBe('equal');
  });

  it('lets a project with tables of its own be created at any moment', async () => {
    await fixture.rate(1);
    await fixture.project();
    const { clickhouse } = fixture.house;
    let projectNo = 1_000;
    let moment = Math.floor(Math.random() * MOMENTS_APART);
    const command = async (...call: Parameters<typeof clickhouse.command>) => {
      // A creation reads the record of migrations.
      const isOfRecord = /TABLE .*schema_migrations/.test(call[0]);
      if (++moment % MOMENTS_APART === 0 || isOfRecord) await provisionStorage(clickhouse, ++projectNo);
      await clickhouse.command(...call);
    };
    await rebuildHistory(fixture.deps({ ...methodsOf(clickhouse), command }));
    expect(projectNo).toBeGreaterThan(1_005);
    const found = await clickhouse.query(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, '^usage_events_1[0-9]{3}$')`,
    );
    expect(found).toHaveLength(projectNo - 1_000);
  });

  it('refuses when rows are not archived, and does it if told that they are lost', async () => {
    await fixture.rate(3);
    expect(await fixture.project(false)).toBe(6);
    await fixture.rate(2);
    await fixture.project();
    const before = await fixture.contents();
    await expect(rebuild()).rejects.toThrow('The archive lacks 6 events');
    expect(await fixture.contents()).toEqual(before);
    expect(await rebuildHistory(fixture.deps(), { incomplete: true })).toMatchObject({ events: 4 });
    expect(await fixture.verifyStatus()).toBe('different');
  });

  it('refuses without an archive', async () => {
    await expect(rebuildHistory({ ...fixture.deps(), archive: undefined })).rejects.toThrow(
      'There is no archive',
    );
  });

  it.each([
    ['missing', (path: string) => unlink(path)],
    ['cut off', (path: string) => truncate(path, 10)],
  ])('changes nothing when an object is %s', async (_what, damage) => {
    await fixture.rate(3);
    await fixture.project();
    const before = await fixture.contents();
    const [name = ''] = await readdir(fixture.archived.folder);
    await damage(join(fixture.archived.folder, name));
    await expect(rebuild()).rejects.toThrow(ArchiveDamagedError);
    await expect(rebuild()).rejects.toThrow('or add --incomplete to give up the history of its 3 events.');
    expect(await fixture.contents()).toEqual(before);
    await fixture.rate(1);
    expect(await fixture.project()).toBe(2);
  });

  it('gives up the rows of a lost object if told so, and keeps all others', async () => {
    await fixture.rate(3);
    await fixture.project();
    const [name = ''] = await readdir(fixture.archived.folder);
    await unlink(join(fixture.archived.folder, name));
    await fixture.rate(2);
    await fixture.project();
    expect(await rebuildHistory(fixture.deps(), { incomplete: true })).toMatchObject({ events: 7 });
    expect(await fixture.verify()).toMatchObject({ status: 'equal', losses: { loss_count: 1, days: 1 } });
    // The lost object has left the archive, which then has all rows that are in ClickHouse.
    expect(await rebuild()).toMatchObject({ events: 7 });
    await fixture.rate(1);
    expect(await fixture.project()).toBe(2);
  });

  it('leaves out what is no longer kept, which also leaves the archive', async () => {
    const { project } = fixture.pipeline;
    await fixture.rate(4, 100);
    await fixture.rate(2);
    await fixture.project();
    const keptFrom = Math.floor(fixture.clock.nowMs() / 86_400_000) - 30;
    await fixture.pipeline.rows(
      `insert into usage_retention (tenant_id, project_id, retained_from_day, shown_from_day, recorded_at_ms)
      values ('ten_a', 'prj_a', ${keptFrom}, ${keptFrom}, 0)`,
    );
    expect(await fixture.upkeep()).toBe(1);
    expect(await fixture.upkeep()).toBe(0);
    expect(await rebuild()).toMatchObject({ events: 8 });
    const counts = `SELECT count() AS n FROM usage_events WHERE project_id = '${project.projectId}'`;
    expect(await fixture.house.clickhouse.query(counts)).toEqual([{ n: '2' }]);
  });
});
