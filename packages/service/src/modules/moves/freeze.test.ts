import { afterEach, beforeEach, expect, it } from 'vitest';
import { isTenantMoving } from '../../platform/postgres/index.js';
import { ArrivingTenants } from './target.js';
import { depsOf, run, type TestCell, TwoCells } from './two-cells.testing.js';

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

it('refuses every write of a frozen tenant, and no write of another tenant', async () => {
  await source.begin('ten_1', 'm1');
  await source.drain('ten_1', 'm1');
  await run(a, `update boards set name = 'still here' where id = 'id_ten_1_1'`);
  expect(await source.freeze('ten_1', 'm1')).toBe(true);
  const triggers = await run(
    a,
    `select tgrelid::regclass::text as table from pg_trigger where tgname = 'refuse_moving_tenant'
      and tgrelid not in ('segments'::regclass, 'ledger_transactions'::regclass) order by 1`,
  );
  expect(triggers.rows.length).toBeGreaterThan(25);
  for (const { table } of triggers.rows) {
    // These rows may never change like this, whether the tenant moves or not.
    if (!['entitlement_grants', 'payment_orders'].includes(table)) {
      const refused = run(a, `update ${table} set tenant_id = tenant_id where tenant_id = 'ten_1'`);
      expect([table, isTenantMoving(await refused.catch((error: unknown) => error))]).toEqual([table, true]);
      await run(a, `update ${table} set tenant_id = tenant_id where tenant_id = 'ten_2'`);
    }
  }
  expect(await run(a, `delete from charts where tenant_id = 'ten_1'`)).toMatchObject({ rowCount: 0 });
  for (const sql of [
    `insert into ledger_transactions select tenant_id, project_id, 'x', account_id, currency, 'credit', null, 1
      from ledger_transactions where id = 'id_ten_1_1'`,
    `insert into wallets select tenant_id, project_id, account_id, 'EUR' from wallets where account_id = 'id_ten_1_1'`,
    `update wallets set mode = 'postpaid', owed = 0 where tenant_id = 'ten_1'`,
    `insert into segments (received_at_ms, event_count, project_ids, project_event_counts, byte_count, bytes, tenant_ids,
      tenant_event_counts, tenant_byte_counts) values (1, 2, '{p}', '{0}', 1, '', '{ten_2,ten_1}', '{1,1}', '{1,1}')`,
  ]) {
    await expect(run(a, sql)).rejects.toMatchObject({ code: 'TG001' });
  }
  const add = (table: string, change: string, tenants: string) =>
    run(
      a,
      `insert into ${table} select (json_populate_record(t, '${change}')).* from ${table} t
      where tenant_id in (${tenants}) and ctid in (select min(ctid) from ${table} group by project_id)`,
    );
  for (const [table, change] of [
    ['budget_leases', '{"id": "bl_new"}'],
    ['idempotent_requests', '{"key": "new"}'],
  ] as const) {
    await expect(add(table, change, `'ten_1', 'ten_2'`)).rejects.toMatchObject({ code: 'TG001' });
    expect((await add(table, change, `'ten_2'`)).rowCount).toBeGreaterThan(0);
  }
  const { rows: moving } = await run(a, `select id from tenants where is_moving(id)`);
  expect(moving).toEqual([{ id: 'ten_1' }]);
  await source.resume('ten_1', 'm1');
  await source.resume('ten_1', 'm1');
  await run(a, `update boards set name = 'back' where id = 'id_ten_1_1'`);
});

it('does not freeze a tenant that has unfinished events, and waits for writes that began before the freeze', async () => {
  await source.begin('ten_1', 'm1');
  await source.drain('ten_1', 'm1');
  await run(
    a,
    `insert into segments (received_at_ms, event_count, project_ids, project_event_counts, byte_count, bytes)
    values (1, 2, '{prj_ten_1_1}', '{2}', 1, '')`,
  );
  expect(await source.freeze('ten_1', 'm1')).toBe(false);
  await run(a, 'delete from segments');
  const writer = await a.store.postgres.pool.connect();
  await writer.query('begin');
  await writer.query(`update boards set name = 'late' where id = 'id_ten_1_1'`);
  let isFrozen = false;
  const frozen = source.freeze('ten_1', 'm1').then((done) => {
    isFrozen = done;
  });
  while ((await run(a, `select 1 from tenant_moves where state = 'frozen'`)).rowCount === 0);
  expect(isFrozen).toBe(false);
  await writer.query('commit');
  writer.release();
  await frozen;
  expect(isFrozen).toBe(true);
});

it('lets a frozen tenant drain again for nobody but the call that froze it', async () => {
  const refused = { code: 'move_refused' };
  await source.begin('ten_1', 'm1');
  await source.drain('ten_1', 'm1');
  const writer = await a.store.postgres.pool.connect();
  await writer.query('begin');
  await writer.query(`insert into segments (received_at_ms, event_count, project_ids, project_event_counts, byte_count, bytes)
    values (1, 2, '{prj_ten_1_1}', '{2}', 1, '')`);
  const early = source.freeze('ten_1', 'm1');
  while ((await run(a, `select 1 from tenant_moves where state = 'frozen'`)).rowCount === 0);
  // Another call has frozen it in the meantime.
  await run(a, 'update tenant_moves set changed_at_ms = changed_at_ms + 1');
  await writer.query('commit');
  writer.release();
  expect(await early).toBe(false);
  await expect(source.drain('ten_1', 'm1')).rejects.toMatchObject(refused);
  expect((await run(a, 'select state from tenant_moves')).rows).toEqual([{ state: 'frozen' }]);
});

it('forms no unit of history of a working tenant from what is not settled, whatever is asked', async () => {
  await source.begin('ten_1', 'm1');
  const beforeMs = Number.MAX_SAFE_INTEGER;
  const unit = () => source.nextUnit('ten_1', 'm1', 'prj_own', { afterMs: 0, beforeMs });
  expect(await unit()).toBeDefined();
  await run(
    a,
    `insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids, bytes)
    values (1, 1, 1, 1, 1, '{prj_own}', '')`,
  );
  expect(await unit()).toBeUndefined();
});

it('opens a tenant by one call', async () => {
  await source.begin('ten_1', 'm1');
  await target.begin('ten_1', 'm1');
  await cells.copyAll();
  await cells.freeze();
  expect(await target.finish('ten_1', 'm1')).toEqual([]);
  const opened = await Promise.allSettled([target.open('ten_1', 'm1'), target.open('ten_1', 'm1')]);
  expect(opened.map(({ status }) => status)).toContain('fulfilled');
  // It has moved on: a late call serves nothing.
  await run(b, `insert into tenant_moves values ('ten_1', 'm2', 'moved', 1)`);
  await run(b, `insert into unserved_tenants values ('ten_1', 1)`);
  await expect(target.open('ten_1', 'm1')).rejects.toMatchObject({ code: 'move_refused' });
  expect((await run(b, 'select tenant_id from unserved_tenants')).rows).toEqual([{ tenant_id: 'ten_1' }]);
});

it('refuses steps that do not fit', async () => {
  const refused = { code: 'move_refused' };
  await expect(source.drain('ten_1', 'm1')).rejects.toMatchObject(refused);
  await source.begin('ten_1', 'm1');
  await source.begin('ten_1', 'm1');
  await expect(source.begin('ten_1', 'm2')).rejects.toMatchObject(refused);
  await expect(source.rows('ten_1', 'm2', { table: 'tenants' })).rejects.toMatchObject(refused);
  await expect(source.complete('ten_1', 'm1')).rejects.toMatchObject(refused);
  await expect(source.remove('ten_1', 'm1', 0)).rejects.toMatchObject(refused);
  await expect(target.copy('ten_1', 'm1', 1)).rejects.toMatchObject(refused);
  await expect(target.open('ten_1', 'm1')).rejects.toMatchObject(refused);
  await target.begin('ten_1', 'm1');
  await expect(target.finish('ten_1', 'm1')).rejects.toMatchObject(refused);
  await expect(new ArrivingTenants(depsOf(a), source).begin('ten_1', 'm1')).rejects.toMatchObject(refused);
  await b.store.beside('alter table boards add column extra text');
  await expect(target.begin('ten_1', 'm1')).rejects.toThrow('same release');
});

it('refuses a tenant with segments that cannot be read', async () => {
  await run(a, `insert into unreadable_segments values (1, 1, 1, '{prj_ten_1_1}', '{1}', 'damaged', '')`);
  await expect(source.begin('ten_1', 'm1')).rejects.toThrow('1 segments in unreadable_segments');
});
