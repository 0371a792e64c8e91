import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { MOVING_NUMBERS, TABLE_OWNERS } from './index.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

const owners = Object.entries(TABLE_OWNERS);
const tablesOf = (owner: string) => owners.filter(([, each]) => each.owner === owner).map(([table]) => table);

it('names every table: say in table-owners.ts whether rows of a new table move with their tenant', async () => {
  const { rows } = await store.postgres.pool.query(
    `select relname from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition`,
  );
  expect(Object.keys(TABLE_OWNERS).sort()).toEqual(rows.map(({ relname }) => relname).sort());
});

it('lets every table with a tenant or project in each row move with the tenant', async () => {
  const { rows } = await store.postgres.pool.query(
    `select relname, attname from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and attname in ('tenant_id', 'project_no') order by 1`,
  );
  const ofCell = ['tenant_move_steps', 'tenant_moves', 'unserved_tenants'];
  const named = rows.filter(({ relname }) => !ofCell.includes(relname));
  const moving = owners.flatMap(([relname, owner]) =>
    owner.owner === 'tenant' && (owner.by === 'tenant_id' || owner.by === 'project_no')
      ? [{ relname, attname: owner.by }]
      : [],
  );
  const inOrder = (list: typeof moving) => list.map(({ relname, attname }) => `${relname}.${attname}`).sort();
  expect(inOrder(moving)).toEqual(inOrder(named));
});

it('comes after the tables that it refers to, and refers to none that stays', async () => {
  const { rows } = await store.postgres.pool.query(
    `select conrelid::regclass::text as table, confrelid::regclass::text as target from pg_constraint
      where contype = 'f' and conrelid <> confrelid and connamespace = 'public'::regnamespace`,
  );
  const moving = tablesOf('tenant');
  for (const { table, target } of rows) {
    if (!moving.includes(table) && !moving.includes(target)) continue;
    expect([table, moving.indexOf(target) < moving.indexOf(table)]).toEqual([table, true]);
    expect([table, moving.includes(target)]).toEqual([table, moving.includes(table)]);
  }
});

it('knows every identity column of a table that moves', async () => {
  const { rows } = await store.postgres.pool.query(
    `select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and (is_identity = 'YES' or column_default like 'nextval%')
        and table_name = any($1) order by 1`,
    [tablesOf('tenant')],
  );
  expect(rows).toEqual([...MOVING_NUMBERS].sort((a, b) => (a.table < b.table ? -1 : 1)));
});
