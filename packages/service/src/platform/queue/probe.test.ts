import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { connectPostgres } from '../postgres/index.js';
import { probeQueue, probeSegmentFolder } from './probe.js';

describe('a probe of the queue', () => {
  let store: TestPostgres;
  beforeAll(async () => {
    store = await createTestPostgres();
  });
  afterAll(() => store.drop());

  const probe = () => probeQueue(store.postgres);
  const bytesOnDisk = async () => {
    const { rows } = await store.postgres.pool.query("select pg_table_size('segments') as bytes");
    return rows[0].bytes;
  };

  it('writes a segment, and leaves nothing in the queue', async () => {
    const before = await bytesOnDisk();
    await probe();
    expect(await bytesOnDisk()).toBeGreaterThan(before + 16_000);
    expect((await store.postgres.pool.query('select id from segments')).rows).toEqual([]);
  });

  it('fails with the commit', async () => {
    await store.beside(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$`);
    await store.beside(`create constraint trigger at_commit after insert on segments deferrable initially deferred
      for each row execute function refuse()`);
    await expect(probe()).rejects.toMatchObject({ code: '53100' });
    await store.beside('drop trigger at_commit on segments');
    await probe();
  });

  it('fails where nothing can be written', async () => {
    const readOnly = connectPostgres({
      connection: `${store.connectionString}&options=-c%20default_transaction_read_only%3Don`,
      applicationName: 'test',
      poolMax: 1,
      log: pino({ level: 'error' }),
    });
    try {
      await expect(probeQueue(readOnly)).rejects.toMatchObject({ code: '25006' });
    } finally {
      await readOnly.close();
    }
  });

  it('does not wait long for others, and leaves nobody waiting at the server', async () => {
    const { pool } = store.postgres;
    const client = await pool.connect();
    try {
      await client.query('begin; lock table segments');
      await expect(probe()).rejects.toMatchObject({ code: '57014' });
    } finally {
      await client.query('rollback');
      client.release();
    }
    await probe();
  });
});

describe('a probe of the folder of large segments', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-probe-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('leaves nothing behind', async () => {
    await probeSegmentFolder(folder);
    expect(await readdir(folder)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'fails on a full disk, and does not when there is room',
    async () => {
      // A full disk.
      await symlink('/dev/full', join(folder, 'probe'));
      await expect(probeSegmentFolder(folder)).rejects.toMatchObject({ code: 'ENOSPC' });
      await probeSegmentFolder(folder);
    },
  );

  it('fails when the folder is gone', async () => {
    await rm(folder, { recursive: true });
    await expect(probeSegmentFolder(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.runIf(process.getuid?.() !== 0)('fails when the folder may not be written', async () => {
    await chmod(folder, 0o500);
    await expect(probeSegmentFolder(folder)).rejects.toMatchObject({ code: 'EACCES' });
  });
});
