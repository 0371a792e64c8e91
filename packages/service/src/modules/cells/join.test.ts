import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createProject,
  createTestPostgres,
  type TestPostgres,
  type TestProject,
} from '../../testing/index.js';
import { isServed } from '../tenancy/index.js';
import * as directory from './directory-store.js';
import { CellError, joinCell } from './join.js';
import { hasGivenNumbers, NUMBERS_PER_CELL } from './number-store.js';

let store: TestPostgres;
const databases: TestPostgres[] = [];
beforeAll(async () => {
  store = await createTestPostgres({ isEmpty: true });
  await directory.migrateDirectory(store.postgres);
  for (const [number, name] of ['a', 'b', 'c', 'd'].entries()) {
    await directory.putCell(store.postgres, { name, url: `http://${name}`, capacity: 1, number });
  }
});
afterAll(async () => {
  for (const each of [store, ...databases]) await each.drop();
});

async function newDatabase(): Promise<TestPostgres> {
  const made = await createTestPostgres();
  databases.push(made);
  return made;
}

let projectCount = 0;

/** Creates a project with a tenant of its own. */
function newProject({ postgres }: TestPostgres): Promise<TestProject> {
  projectCount += 1;
  return createProject(postgres, `ten_${projectCount}`, `prj_${projectCount}`);
}

const warnings: object[] = [];

function join(
  name: string,
  { postgres }: TestPostgres,
  { directory: { postgres: database } = store, migrate = true } = {},
) {
  const log = { warn: (details: object) => void warnings.push(details) };
  return joinCell({ directory: database, postgres, name, log, migrate, nowMs: () => 0 });
}

async function projectNumbers({ postgres }: TestPostgres): Promise<number[]> {
  const { rows } = await postgres.pool.query('select no from projects order by no');
  return rows.map(({ no }) => no);
}

describe('the numbers of a cell', () => {
  it('are in a range of its own, whose slots are even', async () => {
    const numbers: number[][] = [];
    for (const name of ['a', 'd']) {
      const database = await newDatabase();
      expect(await hasGivenNumbers(database.postgres)).toBe(false);
      await join(name, database);
      for (let count = 0; count < 128; count += 1) await newProject(database);
      expect(await hasGivenNumbers(database.postgres)).toBe(true);
      numbers.push(await projectNumbers(database));
    }
    expect(numbers[0]?.[0]).toBe(1);
    expect(numbers[1]?.[0]).toBe(3 * NUMBERS_PER_CELL + 1);
    for (const each of numbers) {
      const slots = each.map((no) => no % 64);
      expect(new Set(slots).size).toBe(64);
      expect(slots.slice(0, 64).sort()).toEqual(slots.slice(64).sort());
    }
  });

  it('end with its range', async () => {
    const database = await newDatabase();
    await join('b', database);
    await database.beside(
      `select setval(pg_get_serial_sequence('projects', 'no'), ${2 * NUMBERS_PER_CELL - 1})`,
    );
    await expect(newProject(database)).rejects.toThrow('reached maximum value');
  });

  it('stay when the cell joins again', async () => {
    const database = await newDatabase();
    await join('b', database);
    await newProject(database);
    await join('b', database);
    await newProject(database);
    expect(await projectNumbers(database)).toEqual([NUMBERS_PER_CELL + 1, NUMBERS_PER_CELL + 2]);
  });

  it('refuse an installation with numbers of another cell, and change nothing', async () => {
    const database = await newDatabase();
    await newProject(database);
    await expect(join('b', database)).rejects.toThrow(CellError);
    await newProject(database);
    expect(await projectNumbers(database)).toEqual([1, 2]);
    await join('a', database);
  });
});

describe('joining', () => {
  it('needs a cell that the directory knows', async () => {
    await expect(join('nobody', await newDatabase())).rejects.toThrow('tollgate cell add nobody --url URL');
  });

  it('leaves the tables of the directory alone where it may not migrate', async () => {
    const empty = await createTestPostgres({ isEmpty: true });
    databases.push(empty);
    const database = await newDatabase();
    const joining = () => join('a', database, { directory: empty, migrate: false });
    await expect(joining()).rejects.toThrow(
      'The directory schema is not up to date (pending migrations: 1): run tollgate cell list.',
    );
    expect(await empty.beside(`select from pg_tables where schemaname = 'public'`)).toEqual([]);
    await directory.migrateDirectory(empty.postgres);
    await expect(joining()).rejects.toThrow('The directory has no cell "a"');
  });

  it('registers the tenants, projects and keys that it already has', async () => {
    const database = await newDatabase();
    const { tenantId, projectId } = await newProject(database);
    await database.postgres.pool.query(
      `insert into api_keys (tenant_id, id, name, key_hash, permissions, created_at)
        values ($1, 'key_1', 'k', '\\xabcd', '{}', 0)`,
      [tenantId],
    );
    await join('a', database);
    for (const address of [tenantId, projectId, 'abcd']) {
      expect(await directory.findTenantRoute(store.postgres, address)).toMatchObject({ tenantId, cell: 'a' });
    }
  });

  it('registers again what a restored directory has lost', async () => {
    const database = await newDatabase();
    const { tenantId, projectId } = await newProject(database);
    await join('a', database);
    await store.postgres.pool.query('delete from addresses where address = $1', [projectId]);
    await join('a', database);
    expect(await directory.findTenantRoute(store.postgres, projectId)).toMatchObject({ tenantId });
  });

  it('stops serving a tenant that was moved before the database was restored', async () => {
    const database = await newDatabase();
    const { tenantId } = await newProject(database);
    await directory.insertTenantOf(store.postgres, 'b', tenantId);
    warnings.length = 0;
    await join('a', database);
    expect(await isServed(database.postgres.db, tenantId)).toBe(false);
    expect(warnings).toEqual([{ tenantId, cell: 'b' }]);
    expect(await directory.findTenantRoute(store.postgres, tenantId)).toMatchObject({ cell: 'b' });
  });
});
