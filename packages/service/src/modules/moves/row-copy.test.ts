import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import * as rows from './row-copy-store.js';
import { insertMove, writeAsMove } from './state-store.js';
import { type TableName, tenantTables, UNCHECKED_TABLES } from './tables.js';
import { fillTables } from './tenant-rows.testing.js';

const ROWS = 120;

let source: TestPostgres;
let target: TestPostgres;
beforeAll(async () => {
  source = await createTestPostgres();
  target = await createTestPostgres();
  await fillTables(source, 'ten_1', ROWS);
  await fillTables(source, 'ten_2', 3);
});
afterAll(async () => {
  await source.drop();
  await target.drop();
});

const tenantOf = async (tenantId: string) => ({
  tenantId,
  projects: await rows.readProjects(source.postgres.db, tenantId),
});

async function copyTable(tenant: rows.TenantRows, table: TableName, range: Partial<rows.RowRange> = {}) {
  let count = 0;
  for (let after: readonly string[] | undefined; ; ) {
    const chunk = await rows.exportRows(source.postgres.db, tenant, { table, ...range, after });
    await transaction(target.postgres, async (tx) => {
      expect(await writeAsMove(tx, 'ten_1', 'm1', ['arriving'])).toBe(true);
      await rows.importRows(tx, table, chunk.rows);
    });
    count += chunk.rows.length;
    after = chunk.next;
    if (after === undefined) return count;
  }
}

const textOf = async ({ postgres }: TestPostgres, table: string) =>
  (await postgres.pool.query(`select t::text as row from ${table} t order by 1`)).rows;

it('every row arrives in another database unchanged, and no row of another tenant does', async () => {
  await insertMove(target.postgres.db, 'ten_1', { moveId: 'm1', state: 'arriving' }, 0);
  const tenant = await tenantOf('ten_1');
  for (const table of tenantTables()) {
    const count = await copyTable(tenant, table);
    expect([table, count]).toEqual([table, count > 1 ? ROWS : 1]);
    // A repetition changes nothing.
    await copyTable(tenant, table);
    const digest = await rows.digestRows(source.postgres.db, tenant, table);
    expect([table, await rows.digestRows(target.postgres.db, tenant, table)]).toEqual([table, digest]);
    expect(digest.reduce((sum, each) => sum + Number(each.rows), 0)).toBe(count);
  }
  const others = await tenantOf('ten_2');
  const remove = () =>
    transaction(source.postgres, async (tx) => {
      await writeAsMove(tx, 'ten_2', 'm2', ['leaving']);
      for (const table of tenantTables().reverse()) await rows.deleteRows(tx, others, table);
    });
  await expect(remove()).rejects.toThrow('append-only');
  await insertMove(source.postgres.db, 'ten_2', { moveId: 'm2', state: 'leaving' }, 0);
  await remove();
  for (const table of tenantTables()) {
    expect(await textOf(target, table)).toEqual(await textOf(source, table));
  }
});

it('finds the rows that were written since a mark, and no others', async () => {
  const tenant = await tenantOf('ten_1');
  const mark = await markAfterAll(tenant);
  const open = await source.postgres.pool.connect();
  await open.query('begin');
  await open.query(`update usage_totals set amount = 7.70 where tenant_id = 'ten_1' and day = 5`);
  const during = await rows.readHighWater(source.postgres.db);
  await source.beside(`update usage_totals set amount = 8.80 where tenant_id = 'ten_1' and day = 6`);
  await open.query('savepoint inner_one');
  await open.query(`update usage_totals set amount = 9.90 where tenant_id = 'ten_1' and day = 7`);
  await open.query('commit');
  open.release();
  for (const writtenSince of [mark, during]) {
    const found = await rows.exportRows(source.postgres.db, tenant, { table: 'usage_totals', writtenSince });
    expect(found.rows.map((row) => /[789]\.[789]0/.exec(row)?.[0])).toEqual(['7.70', '8.80', '9.90']);
  }
  await markAfterAll(tenant);
});

/**
 * Returns a mark after which nothing was written. For a while, transactions of other tests on the same server keep
 * marks low, so that a read returns more rows than were written.
 */
async function markAfterAll(tenant: Awaited<ReturnType<typeof tenantOf>>) {
  let mark = '';
  await waitFor(async () => {
    mark = await rows.readHighWater(source.postgres.db);
    const range = { table: 'usage_totals', writtenSince: mark } as const;
    return (await rows.exportRows(source.postgres.db, tenant, range)).rows.length === 0;
  });
  return mark;
}

it('finds the parts of a table that differ, and replaces only them', async () => {
  const tenant = await tenantOf('ten_1');
  await copyTable(tenant, 'usage_totals');
  await source.beside(`delete from usage_totals where tenant_id = 'ten_1' and day = 11`);
  const source1 = await rows.digestRows(source.postgres.db, tenant, 'usage_totals');
  const target1 = await rows.digestRows(target.postgres.db, tenant, 'usage_totals');
  const differing = target1.filter(
    ({ bucket, hash }) => source1.find((each) => each.bucket === bucket)?.hash !== hash,
  );
  expect(differing).toHaveLength(1);
  const bucket = differing[0]?.bucket ?? -1;
  await transaction(target.postgres, (tx) => rows.deleteRows(tx, tenant, 'usage_totals', bucket));
  await copyTable(tenant, 'usage_totals', { bucket });
  expect(await rows.digestRows(target.postgres.db, tenant, 'usage_totals')).toEqual(source1);
});

it('equal schemas have equal fingerprints', async () => {
  const before = await rows.readFingerprint(target.postgres.db);
  expect(before).toBe(await rows.readFingerprint(source.postgres.db));
  await target.beside('alter table boards add column extra text');
  expect(await rows.readFingerprint(target.postgres.db)).not.toBe(before);
});

it('checks the writes of every table: add triggers in the migration of a new table, or say why it needs none', async () => {
  const { rows: checked } = await source.postgres.pool.query(
    `select distinct tgrelid::regclass::text as table from pg_trigger where tgname like 'refuse%' order by 1`,
  );
  const expected = tenantTables().filter((table) => UNCHECKED_TABLES[table] === undefined);
  expect(checked.map(({ table }) => table).filter((table) => table !== 'segments')).toEqual(expected.sort());
});

it('copies no table early if its rows refer to a table that is copied late', async () => {
  const { rows: references } = await source.postgres.pool.query(
    `select conrelid::regclass::text as table, confrelid::regclass::text as target from pg_constraint
     where contype = 'f' and connamespace = 'public'::regnamespace and confrelid <> 'tenants'::regclass`,
  );
  const live = tenantTables('live');
  expect(live.length).toBeGreaterThan(5);
  for (const { table, target: referred } of references) {
    expect(live).not.toContain(table);
    expect(live).not.toContain(referred);
  }
});
