import { afterEach, beforeEach, expect, it } from 'vitest';
import { outdatedViews } from '../../platform/clickhouse/index.js';
import { transaction } from '../../platform/postgres/index.js';
import { insertUsageRows, restoreFormerViews, usageItem, usageRow } from '../../testing/index.js';
import { archiveForeignRows } from '../archive/index.js';
import { isServed } from '../tenancy/index.js';
import type { MoveSource } from './moving.js';
import { tenantTables } from './tables.js';
import { ArrivingTenants } from './target.js';
import { depsOf, historyIn, rowsIn, run, type TestCell, TwoCells } from './two-cells.testing.js';

let cells: TwoCells;
let source: TwoCells['source'];
let target: TwoCells['target'];
let a: TestCell;
let b: TestCell;
beforeEach(async () => {
  cells = await TwoCells.open();
  ({ source, target, a, b } = cells);
});
afterEach(() => cells.drop());

it('moves every row and the whole history while the tenant works, and leaves nothing behind', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  await cells.copyAll();
  // The tenant works: rows are added, changed and deleted, and events are rated.
  await run(
    a,
    `update usage_totals set amount = amount + 0.000000000000000001 where tenant_id = 'ten_1' and day < 9`,
  );
  await run(a, `delete from failed_events where tenant_id = 'ten_1' and occurred_at < 4`);
  await run(a, `delete from limit_reserved where rule_no = 7`);
  await run(
    a,
    `insert into usage_event_ids select no, gen_random_uuid() from projects where tenant_id = 'ten_1'`,
  );
  await run(
    a,
    `insert into boards select tenant_id, project_id, 'new', 'new', null, timezone, 1, 1, 1
    from boards where id = 'id_ten_1_1'`,
  );
  await cells.addHistory('prj_ten_1_1', 12);
  await cells.addHistory('prj_own', 9);
  await cells.copyAll();
  expect(await isServed(b.store.postgres.db, 'ten_1')).toBe(false);
  await cells.addHistory('prj_ten_1_1', 5);
  await source.drain('ten_1', 'm1');
  expect(await source.freeze('ten_1', 'm1')).toBe(true);
  expect(await target.finish('ten_1', 'm1')).toEqual([]);
  // A repetition changes nothing.
  expect(await target.finish('ten_1', 'm1')).toEqual([]);
  await target.open('ten_1', 'm1');
  await target.open('ten_1', 'm1');
  await source.complete('ten_1', 'm1');
  expect(await isServed(a.store.postgres.db, 'ten_1')).toBe(false);
  expect(await isServed(b.store.postgres.db, 'ten_1')).toBe(true);
  for (const table of tenantTables()) expect(await rowsIn(b, table)).toEqual(await rowsIn(a, table));
  const digests = await historyIn(b);
  expect(digests).toEqual(await historyIn(a));
  expect(digests.map(({ events }) => events)).toEqual(['57', '34']);
  expect(digests.map(({ items }) => items.length)).toEqual([8, 8]);
  await run(
    b,
    `insert into boards select tenant_id, project_id, 'newer', 'new', null, timezone, 1, 1, 1
    from boards where id = 'new'`,
  );

  expect(await archivedEvents(b)).toEqual(await historyRows(b));

  const project = { projectId: 'prj_ten_1_1', projectNo: 1, storage: 'shared' as const };
  const rows = await a.history.clickhouse.exportRows('SELECT * FROM usage_events LIMIT 1');
  const record = await archiveForeignRows(a.archived.archive, { project, rows, eventCount: 1 });
  await transaction(a.store.postgres, record);
  while (!(await source.remove('ten_1', 'm1', 0)));
  expect(await archivedEvents(a)).toEqual([]);
  const left = await run(a, `select * from tenants`);
  expect(left.rows.map(({ id }) => id)).toEqual(['ten_2']);
  expect((await run(a, 'select * from usage_totals')).rows.map(({ tenant_id }) => tenant_id)).toEqual([
    'ten_2',
    'ten_2',
  ]);
  const rest = await a.history.clickhouse.query(
    `SELECT count() AS n FROM usage_events WHERE tenant_id = 'ten_1'`,
  );
  expect(rest).toEqual([{ n: '0' }]);
  expect(await run(a, 'select * from tenant_moves')).toMatchObject({ rowCount: 0 });
});

/** Returns the numbers of events in the archive, by the tables of their project. */
async function archivedEvents(cell: TestCell) {
  const { rows } = await run(
    cell,
    `select coalesce('_' || dedicated_to, '') as suffix, sum(event_count) as events from archived_blocks
    group by 1 order by 1`,
  );
  return rows;
}

/** Returns the same of the history. */
async function historyRows({ history }: TestCell) {
  return history.clickhouse.query<{ suffix: string; events: number }>(
    `SELECT replaceOne(_table, 'usage_events', '') AS suffix, toUInt32(count()) AS events
     FROM merge(currentDatabase(), '^usage_events') GROUP BY suffix ORDER BY suffix`,
  );
}

it('finds a difference that it cannot repair, and opens nothing', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  await cells.copyAll();
  await source.drain('ten_1', 'm1');
  await source.freeze('ten_1', 'm1');
  expect(await target.finish('ten_1', 'm1')).toEqual([]);
  await insertUsageRows(b.history.clickhouse, [
    usageRow({ tenantId: 'ten_1', projectId: 'prj_ten_1_1', items: [usageItem()] }),
  ]);
  expect((await target.finish('ten_1', 'm1')).map(({ part }) => part)).toEqual(['history of prj_ten_1_1']);
});

it('copies again what was changed in spite of the freeze, and does not compare sessions', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  await cells.copyAll();
  await cells.freeze();
  let isChanged = false;
  const changing = new Proxy(source, {
    get(object, name: keyof MoveSource) {
      const call = object[name] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        // Everything is copied by now, and nothing is compared yet.
        if (name === 'digest' && !isChanged) {
          isChanged = true;
          await run(a, `delete from usage_alerts where tenant_id = 'ten_1'`);
          await run(a, 'delete from console_sessions');
        }
        return call.apply(object, args);
      };
    },
  });
  const arriving = new ArrivingTenants(depsOf(b), changing as MoveSource);
  expect(await arriving.finish('ten_1', 'm1')).toEqual([]);
  expect(isChanged).toBe(true);
  expect(await rowsIn(b, 'usage_alerts')).toEqual(await rowsIn(a, 'usage_alerts'));
});

it('names the way to remove the copy of an earlier move', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  await source.resume('ten_1', 'm1');
  await source.begin('ten_1', 'm2');
  await expect(target.begin('ten_1', 'm2')).rejects.toThrow('tollgate tenant remove-copy');
});

it('discards the rows that have arrived; then the move can begin again', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  await cells.copyAll();
  while (!(await target.discard('ten_1', 'm1')));
  for (const table of tenantTables()) {
    expect([table, (await run(b, `select 1 from ${table}`)).rowCount]).toEqual([table, 0]);
  }
  expect(await b.history.clickhouse.query('SELECT count() AS n FROM usage_rollup')).toEqual([{ n: '0' }]);
  // No process remembers anything of the tenant when it comes back.
  expect((await run(b, 'select from key_changes where keys is null')).rowCount).toBe(1);
  await source.resume('ten_1', 'm1');
  await source.begin('ten_1', 'm2');
  await target.begin('ten_1', 'm2');
  await source.drain('ten_1', 'm2');
  await source.freeze('ten_1', 'm2');
  expect(await target.finish('ten_1', 'm2')).toEqual([]);
});

function ignoreKill(error: Error): undefined {
  if (error.message !== 'killed') throw error;
}

it('continues after a process was killed at any step of the copy', async () => {
  await source.begin('ten_1', 'm1');
  let left = 0;
  const dying = new Proxy(source, {
    get(object, name: keyof MoveSource) {
      const call = object[name] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        const result = await call.apply(object, args);
        left -= 1;
        if (left === 0) throw new Error('killed');
        return result;
      };
    },
  });
  const mortal = new ArrivingTenants(depsOf(b), dying as MoveSource);
  await target.begin('ten_1', 'm1');
  let kills = 0;
  for (let calls = 1; ; calls += 1) {
    left = calls;
    const done = await mortal.copy('ten_1', 'm1', 60_000).catch(ignoreKill);
    if (done !== undefined) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(3);
  await source.drain('ten_1', 'm1');
  await source.freeze('ten_1', 'm1');
  for (let calls = 1; ; calls += 15) {
    left = calls;
    const differing = await mortal.finish('ten_1', 'm1').catch(ignoreKill);
    if (differing === undefined) continue;
    expect(differing).toEqual([]);
    break;
  }
  for (const table of tenantTables()) expect(await rowsIn(b, table)).toEqual(await rowsIn(a, table));
});

it('waits while views of the target are replaced in part', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  const { clickhouse } = b.history;
  await restoreFormerViews(clickhouse);
  const [first = '', ...others] = await outdatedViews(clickhouse, []);
  await clickhouse.command(first);
  await expect(cells.copyAll()).rejects.toThrow('run tollgate migrate');
  expect(await clickhouse.query('SELECT count() AS events FROM usage_events')).toEqual([{ events: '0' }]);
  for (const other of others) await clickhouse.command(other);
  await source.drain('ten_1', 'm1');
  await source.freeze('ten_1', 'm1');
  expect(await target.finish('ten_1', 'm1')).toEqual([]);
});
