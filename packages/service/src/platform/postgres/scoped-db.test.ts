import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { transaction } from './connect.js';
import { ProjectDb, ProjectTx, TenantDb, TenantTx } from './scoped-db.js';

const OWN = { tenantId: 'ten_a', projectId: 'prj_a' };
/** A foreign tenant, and a foreign project of the same tenant. */
const FOREIGN = [
  { tenantId: 'ten_b', projectId: 'prj_b' },
  { tenantId: 'ten_a', projectId: 'prj_c' },
];

let store: TestPostgres;
let own: ProjectDb;

beforeAll(async () => {
  store = await createTestPostgres();
  const { db } = store.postgres;
  own = new ProjectDb(db, OWN);
  for (const id of ['ten_a', 'ten_b']) {
    await db.insertInto('tenants').values({ id, name: id, created_at: 1 }).execute();
  }
  for (const { tenantId: tenant_id, projectId: id } of [OWN, ...FOREIGN]) {
    const project = { tenant_id, id, name: id, kind: 'development', storage: 'shared', created_at: 1 };
    await db.insertInto('projects').values(project).execute();
  }
});
afterAll(() => store.drop());

/** Every project has one board of the same id. */
beforeEach(async () => {
  await store.postgres.db.deleteFrom('boards').execute();
  for (const scope of [OWN, ...FOREIGN]) {
    await new ProjectDb(store.postgres.db, scope).insert('boards', board('brd_1')).execute();
  }
});

function board(id: string) {
  const times = { created_at: 1, updated_at: 1 };
  return { id, name: id, description: null, timezone: 'UTC', default_time_range_seconds: 86_400, ...times };
}

/** The boards of all projects, as `project/board name`. */
async function allBoards(): Promise<string[]> {
  const rows = await store.postgres.db.selectFrom('boards').select(['project_id', 'name']).execute();
  return rows.map(({ project_id, name }) => `${project_id}/${name}`).sort();
}

describe('SQL in text', () => {
  it.each([
    ['no condition', () => own.rows`select * from boards`],
    ['a condition on another column', () => own.row`select * from boards where id = ${'brd_1'}`],
    ['the ids written by hand', () => own.rows`select * from boards where project_id = ${OWN.projectId}`],
    ['a part of plain SQL around the condition', () => own.rows`select 1 where ${sql`${own.isOwn()}`}`],
    ['a change without a condition', () => own.change`delete from boards`],
    [
      'the condition of another handle',
      () => own.rows`select 1 from boards where ${new ProjectDb(store.postgres.db, OWN).isOwn()}`,
    ],
  ])('is refused with %s', async (_name, run) => {
    await expect(run()).rejects.toThrow('names no tenant and project');
    expect(await allBoards()).toHaveLength(3);
  });

  it('reads rows of the project only', async () => {
    const named = (name: string) => own.part`${own.isOwn('b')} and b.name = ${name}`;
    const rows = await own.rows<{ project_id: string }>`select * from boards b where ${named('brd_1')}`;
    expect(rows.map(({ project_id }) => project_id)).toEqual(['prj_a']);
    expect(await own.row`select * from boards b where ${named('brd_2')}`).toBeUndefined();
  });

  it('inserts rows of the project', async () => {
    await own.change`
      insert into boards (tenant_id, project_id, id, name, timezone, default_time_range_seconds, created_at, updated_at)
      values (${own.ownValues()}, ${'brd_2'}, ${'new'}, ${'UTC'}, ${86_400}, ${1}, ${1})`;
    expect(await allBoards()).toEqual(['prj_a/brd_1', 'prj_a/new', 'prj_b/brd_1', 'prj_c/brd_1']);
  });

  it('changes rows of the project only, and says how many', async () => {
    expect(await own.change`update boards set name = ${'new'} where ${own.isOwn()}`).toBe(1);
    expect(await allBoards()).toEqual(['prj_a/new', 'prj_b/brd_1', 'prj_c/brd_1']);
  });
});

describe('a table by name', () => {
  it('is read within the project', async () => {
    const rows = await own.selectFrom('boards').select('project_id').execute();
    expect(rows).toEqual([{ project_id: 'prj_a' }]);
  });

  it('is updated within the project', async () => {
    await own.update('boards', { name: 'new' }).where('id', '=', 'brd_1').execute();
    expect(await allBoards()).toEqual(['prj_a/new', 'prj_b/brd_1', 'prj_c/brd_1']);
  });

  it('is deleted from within the project', async () => {
    await own.deleteFrom('boards').where('id', '=', 'brd_1').execute();
    expect(await allBoards()).toEqual(['prj_b/brd_1', 'prj_c/brd_1']);
  });

  it('gets rows of the project, whatever project a row names', async () => {
    const foreign = { ...board('brd_2'), tenant_id: 'ten_b', project_id: 'prj_b' };
    await own.insert('boards', foreign).execute();
    expect(await allBoards()).toEqual(['prj_a/brd_1', 'prj_a/brd_2', 'prj_b/brd_1', 'prj_c/brd_1']);
  });
});

it('inserts many rows at once', async () => {
  await own.insert('boards', board('brd_2'), board('brd_3')).execute();
  expect(await allBoards()).toEqual([
    'prj_a/brd_1',
    'prj_a/brd_2',
    'prj_a/brd_3',
    'prj_b/brd_1',
    'prj_c/brd_1',
  ]);
});

describe('the handle of a tenant', () => {
  const tenant = () => new TenantDb(store.postgres.db, 'ten_a');

  it.each([
    ['no condition', () => tenant().rows`select * from boards`],
    ['the id written by hand', () => tenant().row`select * from boards where tenant_id = ${'ten_a'}`],
    ['the condition of another handle', () => tenant().change`delete from boards where ${own.isOwn()}`],
  ])('refuses SQL in text with %s', async (_name, run) => {
    await expect(run()).rejects.toThrow('names no tenant:');
    expect(await allBoards()).toHaveLength(3);
  });

  it('reaches all projects of the tenant, and no other', async () => {
    const db = tenant();
    expect(await db.rows`select id from projects where ${db.isOwn()} order by id`).toEqual([
      { id: 'prj_a' },
      { id: 'prj_c' },
    ]);
    expect(await db.update('boards', { name: 'new' }).executeTakeFirst()).toMatchObject({
      numUpdatedRows: 2n,
    });
    await db.deleteFrom('boards').where('project_id', '=', 'prj_c').execute();
    expect(await allBoards()).toEqual(['prj_a/new', 'prj_b/brd_1']);
  });

  it('inserts rows of the tenant, whatever tenant a row names', async () => {
    const project = { name: 'p', kind: 'development', storage: 'shared', created_at: 1 };
    const row = { ...project, id: 'prj_d', tenant_id: 'ten_b' };
    await tenant().insert('projects', row).execute();
    const ids = await tenant().selectFrom('projects').select('id').orderBy('id').execute();
    expect(ids).toEqual([{ id: 'prj_a' }, { id: 'prj_c' }, { id: 'prj_d' }]);
  });

  it('takes locks of the tenant in a transaction', async () => {
    const names = await transaction(store.postgres, async (tx) => {
      const scoped = new TenantTx(tx, 'ten_a');
      await scoped.lock('orders');
      await scoped.lock('allowance', 'projects');
      const held = ['tollgate/orders/ten_a', 'tollgate/allowance/ten_a/projects'];
      const { rows } = await sql<{ locks: number }>`
        select count(*) as locks from pg_locks l join unnest(${held}::text[]) as name on l.locktype = 'advisory'
          and (l.classid::bigint << 32) + l.objid::bigint = hashtextextended(name, 0)
        where l.pid = pg_backend_pid()`.execute(tx);
      return rows;
    });
    expect(names).toEqual([{ locks: 2 }]);
  });
});

it('takes part in a transaction', async () => {
  const failing = transaction(store.postgres, async (tx) => {
    await new ProjectTx(tx, OWN).deleteFrom('boards').execute();
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await allBoards()).toHaveLength(3);
});
