import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import * as directory from './directory-store.js';
import * as places from './place-store.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres({ isEmpty: true });
  await directory.migrateDirectory(store.postgres);
});
afterAll(() => store.drop());
beforeEach(async () => {
  await store.postgres.pool.query('truncate cells, tenants, addresses');
});

const URL_OF_A = 'http://10.0.0.1:8080';

function addCell(name: string, more: { number?: number; capacity?: number } = {}) {
  return directory.putCell(store.postgres, { name, url: URL_OF_A, capacity: 50_000, ...more });
}

async function placeOf(tenantId: string): Promise<places.TenantPlace> {
  const place = await places.findPlace(store.postgres, tenantId);
  if (place === undefined) throw new Error(`no place of ${tenantId}`);
  return place;
}

describe('cells', () => {
  it('get the lowest free number', async () => {
    expect(await addCell('a')).toEqual({
      name: 'a',
      number: 0,
      url: URL_OF_A,
      status: 'active',
      capacity: 50_000,
    });
    expect((await addCell('b', { number: 2 }))?.number).toBe(2);
    expect((await addCell('c'))?.number).toBe(1);
    expect((await addCell('d'))?.number).toBe(3);
  });

  it('keep their number when their URL changes, and are active again', async () => {
    await addCell('a');
    await directory.beginDraining(store.postgres, 'a');
    const changed = await directory.putCell(store.postgres, { name: 'a', url: 'http://other', capacity: 7 });
    expect(changed).toEqual({ name: 'a', number: 0, url: 'http://other', status: 'active', capacity: 7 });
  });

  it('are not added with the number of another cell, or with a different number', async () => {
    await addCell('a');
    expect(await addCell('b', { number: 0 })).toBeUndefined();
    expect(await addCell('a', { number: 5 })).toBeUndefined();
    expect((await directory.listCells(store.postgres)).map(({ name }) => name)).toEqual(['a']);
  });

  it('are at most 128', async () => {
    for (let count = 0; count < directory.CELLS_MAX; count += 1) await addCell(`cell-${count}`);
    expect(await addCell('surplus')).toBeUndefined();
  });

  it('report their load; a process that cannot know it yet leaves it as it is', async () => {
    await addCell('a');
    const report = async (perSecond: number | undefined) => {
      await directory.reportEvents(store.postgres, 'a', { total: 1_000, perSecond });
      return (await directory.listCells(store.postgres))[0];
    };
    expect(await report(undefined)).toMatchObject({ eventsPerSecond: 0, reportedAtMs: expect.any(Number) });
    expect(await report(12.5)).toMatchObject({ eventsPerSecond: 12.5 });
    expect(await report(undefined)).toMatchObject({ eventsPerSecond: 12.5 });
    expect(await report(0)).toMatchObject({ eventsPerSecond: 0 });
  });
});

describe('the cell of the next tenant', () => {
  it('is an active one', async () => {
    expect(await directory.chooseCell(store.postgres)).toBeUndefined();
    await addCell('a');
    await addCell('b');
    await directory.beginDraining(store.postgres, 'a');
    expect((await directory.chooseCell(store.postgres))?.name).toBe('b');
  });

  it('is the one with the fewest tenants for its capacity', async () => {
    await addCell('a', { capacity: 30_000 });
    await addCell('b', { capacity: 10_000 });
    const chosen: (string | undefined)[] = [];
    for (let count = 0; count < 8; count += 1) {
      const name = (await directory.chooseCell(store.postgres))?.name ?? '';
      await directory.insertTenantOf(store.postgres, name, `ten_${count}`);
      chosen.push(name);
    }
    expect(chosen.filter((name) => name === 'a')).toHaveLength(6);
  });

  it('is a less loaded one, even if it has more tenants', async () => {
    await addCell('a');
    await addCell('b');
    await directory.insertTenantOf(store.postgres, 'b', 'ten_1');
    await store.beside(`update cells set events_per_second = 5000 where name = 'a'`);
    expect((await directory.chooseCell(store.postgres))?.name).toBe('b');
    await store.beside(`update cells set events_per_second = 4999 where name = 'a'`);
    expect((await directory.chooseCell(store.postgres))?.name).toBe('a');
  });
});

describe('a tenant', () => {
  beforeEach(async () => {
    await addCell('a');
    await addCell('b');
    await directory.insertTenantOf(store.postgres, 'a', 'ten_1');
  });

  it('is found by its id and by what was added', async () => {
    await directory.insertAddress(store.postgres, 'prj_1', 'ten_1');
    await directory.insertAddress(store.postgres, 'prj_1', 'ten_1');
    const route = {
      tenantId: 'ten_1',
      cell: 'a',
      state: 'active',
      toCell: null,
      fromCell: null,
      version: 1,
      url: URL_OF_A,
    };
    expect(await directory.findTenantRoute(store.postgres, 'ten_1')).toEqual(route);
    expect(await directory.findTenantRoute(store.postgres, 'prj_1')).toEqual(route);
    expect(await directory.findTenantRoute(store.postgres, 'prj_2')).toBeUndefined();
  });

  it('is not registered in a draining cell', async () => {
    await directory.beginDraining(store.postgres, 'b');
    expect(await directory.insertTenantOf(store.postgres, 'b', 'ten_2')).toBe(false);
    expect(await directory.findTenantRoute(store.postgres, 'ten_2')).toBeUndefined();
  });

  it('moves in four steps', async () => {
    const moving = await places.beginMove(store.postgres, await placeOf('ten_1'), 'b');
    expect(moving).toEqual({
      tenantId: 'ten_1',
      cell: 'a',
      state: 'moving',
      toCell: 'b',
      fromCell: null,
      version: 2,
    });
    const frozen = await places.freezeTenant(store.postgres, moving ?? (await placeOf('')));
    expect(frozen).toMatchObject({ cell: 'a', state: 'frozen', toCell: 'b', version: 3 });
    const switched = await places.switchTenant(store.postgres, frozen ?? (await placeOf('')), 'a', 'b');
    expect(switched).toEqual({
      tenantId: 'ten_1',
      cell: 'b',
      state: 'frozen',
      toCell: null,
      fromCell: 'a',
      version: 4,
    });
    const moved = await places.openTenant(store.postgres, switched ?? (await placeOf('')));
    expect(moved).toEqual({
      tenantId: 'ten_1',
      cell: 'b',
      state: 'active',
      toCell: null,
      fromCell: null,
      version: 5,
    });
    expect(await places.listPlaces(store.postgres, 'b', '', 10)).toEqual([moved]);
  });

  it('is changed by one of two at the same time', async () => {
    const place = await placeOf('ten_1');
    await addCell('c');
    const both = await Promise.all(
      ['b', 'c'].map((target) => places.beginMove(store.postgres, place, target)),
    );
    expect(both.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await places.beginMove(store.postgres, place, 'b')).toBeUndefined();
  });

  it('does not skip a step, and does not go to another cell than planned', async () => {
    await addCell('c');
    const place = await placeOf('ten_1');
    expect(await places.freezeTenant(store.postgres, place)).toBeUndefined();
    expect(await places.openTenant(store.postgres, place)).toBeUndefined();
    expect(await places.switchTenant(store.postgres, place, 'a', 'b')).toBeUndefined();
    await places.beginMove(store.postgres, place, 'b');
    expect(await places.switchTenant(store.postgres, await placeOf('ten_1'), 'a', 'b')).toBeUndefined();
    await places.freezeTenant(store.postgres, await placeOf('ten_1'));
    expect(await places.openTenant(store.postgres, await placeOf('ten_1'))).toBeUndefined();
    expect(await places.switchTenant(store.postgres, await placeOf('ten_1'), 'a', 'c')).toBeUndefined();
    expect(await places.switchTenant(store.postgres, await placeOf('ten_1'), 'b', 'b')).toBeUndefined();
  });

  it('is changed by the latest run of a move alone', async () => {
    expect(await places.resumeMove(store.postgres, await placeOf('ten_1'))).toBeUndefined();
    const moving = await places.beginMove(store.postgres, await placeOf('ten_1'), 'b');
    const again = await places.resumeMove(store.postgres, moving ?? (await placeOf('')));
    expect(again).toEqual({ ...moving, version: 3 });
    for (const step of [places.freezeTenant, places.cancelMove, places.resumeMove]) {
      expect(await step(store.postgres, moving ?? (await placeOf('')))).toBeUndefined();
    }
    expect(await places.freezeTenant(store.postgres, again ?? (await placeOf('')))).toBeDefined();
  });

  it('stays where it was when its move is cancelled', async () => {
    await places.beginMove(store.postgres, await placeOf('ten_1'), 'b');
    await places.freezeTenant(store.postgres, await placeOf('ten_1'));
    const place = await places.cancelMove(store.postgres, await placeOf('ten_1'));
    expect(place).toEqual({
      tenantId: 'ten_1',
      cell: 'a',
      state: 'active',
      toCell: null,
      fromCell: null,
      version: 4,
    });
    expect(await places.cancelMove(store.postgres, await placeOf('ten_1'))).toBeUndefined();
  });

  it('stays in its new cell once it is switched', async () => {
    await places.beginMove(store.postgres, await placeOf('ten_1'), 'b');
    await places.freezeTenant(store.postgres, await placeOf('ten_1'));
    await places.switchTenant(store.postgres, await placeOf('ten_1'), 'a', 'b');
    expect(await places.cancelMove(store.postgres, await placeOf('ten_1'))).toBeUndefined();
    expect(await placeOf('ten_1')).toMatchObject({ cell: 'b', state: 'frozen' });
  });

  it('does not move to its own cell, a draining one, or one that does not exist', async () => {
    await directory.beginDraining(store.postgres, 'b');
    for (const target of ['a', 'b', 'nowhere']) {
      expect(await places.beginMove(store.postgres, await placeOf('ten_1'), target)).toBeUndefined();
    }
  });

  it('is removed if its cell does not have it', async () => {
    const place = await placeOf('ten_1');
    expect(await directory.removeTenant(store.postgres, { ...place, version: 9 })).toBe(false);
    expect(await directory.removeTenant(store.postgres, place)).toBe(true);
    expect(await directory.findTenantRoute(store.postgres, 'ten_1')).toBeUndefined();
  });
});

describe('tenants from before the cell was added', () => {
  it('are registered, unless the directory has them elsewhere', async () => {
    await addCell('a');
    await addCell('b');
    await directory.insertTenantOf(store.postgres, 'b', 'ten_2');
    const registrations = ['ten_1', 'ten_2'].map((tenantId) => ({
      tenantId,
      addresses: [tenantId, `key of ${tenantId}`],
    }));
    const elsewhere = await directory.registerExisting(store.postgres, 'a', registrations);
    expect(elsewhere.map(({ tenantId, cell }) => [tenantId, cell])).toEqual([['ten_2', 'b']]);
    expect(await directory.registerExisting(store.postgres, 'a', registrations)).toEqual(elsewhere);
    expect((await directory.findTenantRoute(store.postgres, 'key of ten_1'))?.cell).toBe('a');
    expect(await directory.countRegistered(store.postgres, 'a')).toEqual({ tenants: 1, addresses: 2 });
  });
});

it('is refused in the database of a cell', async () => {
  const cell = await createTestPostgres();
  await expect(directory.migrateDirectory(cell.postgres)).rejects.toThrow('needs a database of its own');
  await cell.drop();
});
