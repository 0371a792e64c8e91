import { randomInt } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo, waitFor } from '../../testing/index.js';
import { copyDataDir, newScratchFolder } from '../../testing/scratch-folder.js';
import type { Postgres } from './connect.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';
import { isUnavailable } from './errors.js';

// Other systems have a single loopback address.
describe.runIf(process.platform === 'linux')('a primary and its standby', () => {
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const hosts = { primary: `${network}.1`, standby: `${network}.2` };
  let primary: EmbeddedPostgres;
  let standby: EmbeddedPostgres;
  let postgres: Postgres;

  const start = (dataDir: string, settings: Record<string, string>) =>
    startEmbeddedPostgres({
      dataDir,
      log: pino({ level: 'error' }),
      settings: { fsync: 'off', shared_buffers: '16MB', ...settings },
    });

  beforeAll(async () => {
    const folder = newScratchFolder('hosts-');
    const folders = { primary: join(folder, 'primary'), standby: join(folder, 'standby') };
    for (const path of Object.values(folders)) mkdirSync(path);
    for (const path of [folder, ...Object.values(folders)]) chmodSync(path, 0o711);
    const listen = { listen_addresses: hosts.primary };
    const first = await start(folders.primary, listen);
    await first.stop();
    copyDataDir(folders.primary, folders.standby);
    const cluster = first.clusterFolder.replace(folders.primary, folders.standby);
    const { uid, gid } = statSync(cluster);
    writeFileSync(join(cluster, 'standby.signal'), '');
    chownSync(join(cluster, 'standby.signal'), uid, gid);
    primary = await start(folders.primary, listen);
    const { user, password, database } = primary.connection;
    standby = await start(folders.standby, {
      listen_addresses: hosts.standby,
      primary_conninfo: `host=${hosts.primary} user=${user} password=${password}`,
    });
    postgres = connectTo(
      `postgresql://${user}:${password}@${hosts.standby}:5432,${hosts.primary}:5432/${database}?target_session_attrs=read-write`,
    );
  });
  afterAll(async () => {
    await postgres.close();
    await standby.stop();
    await primary.stop();
  });

  async function asStandby<Row>(sql: string): Promise<Row[]> {
    const direct = connectTo(standby.connection);
    try {
      return (await direct.pool.query(sql)).rows;
    } finally {
      await direct.close();
    }
  }

  async function write(n: number): Promise<string> {
    const { rows } = await postgres.pool.query(
      'insert into written values ($1) returning host(inet_server_addr()) as server',
      [n],
    );
    return rows[0].server;
  }

  const failure = (work: Promise<unknown>) => work.then(() => undefined, isUnavailable);

  it('is written to through the primary, and through the promoted standby after a fail-over', async () => {
    await postgres.pool.query('create table written (n integer)');
    expect(await write(1)).toBe(hosts.primary);
    await waitFor(
      async () => (await asStandby(`select from pg_tables where tablename = 'written'`)).length > 0,
    );
    await waitFor(async () => (await asStandby('select from written')).length === 1);
    await primary.stop();
    // Connections that broke fail once; then no host can be written to.
    await waitFor(async () => (await failure(write(2))) === true && (await failure(write(2))) === true);
    await asStandby('select pg_promote()');
    expect(await write(3)).toBe(hosts.standby);
    expect(await asStandby('select n from written order by n')).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it('is left alone when new connections are read-only, until it can be written to again', async () => {
    const setReadOnly = async (mode: 'on' | 'off') => {
      await asStandby(
        `begin read write; alter role current_user set default_transaction_read_only = ${mode}; commit`,
      );
      await asStandby(`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`);
    };
    await setReadOnly('on');
    await waitFor(async () => (await failure(write(4))) === true && (await failure(write(4))) === true);
    await setReadOnly('off');
    expect(await write(5)).toBe(hosts.standby);
  });
});
