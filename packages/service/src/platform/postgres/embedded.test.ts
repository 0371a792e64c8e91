import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type BuiltProcess, startBuiltProcess } from '../../testing/built-process.js';
import { waitFor } from '../../testing/index.js';
import { copyDataDir, newScratchFolder } from '../../testing/scratch-folder.js';
import { startedCluster } from '../../testing/started-cluster.js';
import { isRunning } from '../process-identity.js';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded.js';
import { serverProcesses } from './leftover.js';

const isRoot = process.getuid?.() === 0;
const NOBODY_ID = 65_534;
const log = pino({ level: 'silent' });

/** See `startedCluster`. */
let initialised: string;
let dataDir: string;
let server: EmbeddedPostgres | undefined;
let service: BuiltProcess | undefined;
beforeAll(async () => {
  initialised = await startedCluster();
});
beforeEach(() => {
  dataDir = newDataDir();
});
afterEach(async () => {
  await service?.kill();
  await server?.stop();
  if (server?.isOutsideDataDir) rmSync(dirname(server.clusterFolder), { recursive: true, force: true });
  service = undefined;
  server = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

function newDataDir(): string {
  const folder = newScratchFolder('embedded-');
  chmodSync(folder, 0o711);
  return folder;
}

/** Copies the cluster, so that a start finds it. */
function copyCluster(): void {
  copyDataDir(initialised, dataDir);
}

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  server = await startEmbeddedPostgres({ dataDir, log, ...options });
  return server;
}

async function ask(sql: string): Promise<unknown[]> {
  const client = new pg.Client(server?.connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

/** A program that starts PostgreSQL and can be killed; it prints the server's pid once a row is committed. */
const SERVICE = `
  import { connectPostgres, startEmbeddedPostgres } from '{dist}platform/postgres/index.js';
  const log = { info() {}, warn() {}, error() {} };
  const server = await startEmbeddedPostgres({ dataDir: process.argv[1], log });
  const { pool } = connectPostgres({ connection: server.connection, applicationName: 'test', poolMax: 1, log });
  await pool.query('create table kept (n integer)');
  await pool.query('insert into kept values (7)');
  process.on('SIGUSR2', () => process.exit(1));
  console.log(JSON.stringify({ pid: server.pid, accountName: server.accountName ?? null, cluster: server.clusterFolder }));
  setInterval(() => {}, 1000);`;

async function startService(identity?: { uid: number; gid: number }) {
  service = startBuiltProcess(SERVICE, [dataDir], identity);
  return JSON.parse(await service.nextLine()) as { pid: number; accountName: string | null; cluster: string };
}

describe('a first start', () => {
  test('the path of the data directory may be longer than that of a socket', async () => {
    const { connection, stop } = await start({ dataDir: join(dataDir, 'x'.repeat(100)) });
    expect(connection.host.length).toBeLessThan(90);
    expect(await ask('select 1')).toEqual([1]);
    await stop();
    expect(existsSync(connection.host)).toBe(false);
  });

  test('the path of the data directory may hold what the setting of the socket folder cannot', async () => {
    await start({ dataDir: join(dataDir, 'a,b "c"  [ü]') });
    expect(await ask('select 1')).toEqual([1]);
  });

  test('an initialisation that was cut short is repeated', async () => {
    mkdirSync(join(dataDir, 'postgres', 'cluster.partial'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres', 'cluster.partial', 'PG_VERSION'), '18\n');
    await start();
    expect(await ask('select 1')).toEqual([1]);
  });
});

describe('start and stop', () => {
  beforeEach(copyCluster);

  test('the data outlives a restart, and stopping twice is harmless', async () => {
    const first = await start();
    await ask('create table kept (n integer)');
    await ask('insert into kept values (7)');
    await first.stop();
    await first.stop();
    expect(serverProcesses(first.clusterFolder)).toEqual([]);
    await start();
    expect(await ask('select n from kept')).toEqual([7]);
  });

  test('durable, on a private socket only, in UTC and UTF-8', async () => {
    const { connection } = await start();
    const names = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'listen_addresses',
      'timezone',
      'server_encoding',
    ];
    const values = await ask(
      `select current_setting(name) from unnest('{${names.join(',')}}'::text[]) as name`,
    );
    expect(values).toEqual(['on', 'on', 'on', '', 'UTC', 'UTF8']);
    expect(statSync(connection.host).mode & 0o777).toBe(0o700);
    const password = join(dirname(server?.clusterFolder ?? ''), 'password');
    expect(statSync(password).mode & 0o777).toBe(0o600);
  });

  test('a wrong password is refused, even on the socket', async () => {
    const { connection } = await start();
    const client = new pg.Client({ ...connection, password: 'guess' });
    await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  test('a path that PostgreSQL would cut off is refused in one sentence', async () => {
    const long = join(dataDir, ...Array<string>(8).fill('x'.repeat(100)));
    await expect(start({ dataDir: long })).rejects.toThrow(/is too long for PostgreSQL/);
  });

  test('a start that is broken off leaves no server behind', async () => {
    const { clusterFolder, stop } = await start();
    await stop();
    const reason = new Error('never mind');
    await expect(start({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(serverProcesses(clusterFolder)).toEqual([]);
  });

  test('the server leads a process group of its own, so that Ctrl-C reaches the service alone', async () => {
    const { pid } = await start();
    expect(() => process.kill(-pid, 0)).not.toThrow();
  });

  test('a cluster of another major version is refused in one sentence', async () => {
    const { clusterFolder, stop } = await start();
    await stop();
    writeFileSync(join(clusterFolder, 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(/is of PostgreSQL 17, but this release runs PostgreSQL 18/);
  });

  test('a server that cannot start says why', async () => {
    await expect(start({ settings: { shared_buffers: 'nonsense' } })).rejects.toThrow(
      /invalid value for parameter "shared_buffers"/,
    );
  });
});

describe('crashes', () => {
  beforeEach(copyCluster);

  test('the server of a killed service is ended, and what was committed is there', async () => {
    const { pid } = await startService();
    await service?.kill();
    expect(isRunning({ pid, startTime: undefined })).toBe(true);
    await start();
    expect(isRunning({ pid, startTime: undefined })).toBe(false);
    expect(await ask('select n from kept')).toEqual([7]);
  });

  test('a service that ends without stopping it takes it along', async () => {
    const { pid } = await startService();
    service?.child.kill('SIGUSR2');
    await waitFor(() => !isRunning({ pid, startTime: undefined }));
    await start();
    expect(await ask('select n from kept')).toEqual([7]);
  });

  test('what a killed server left is ended too', async () => {
    const { pid, cluster } = await startService();
    await service?.kill();
    process.kill(pid, 'SIGKILL');
    await start();
    expect(serverProcesses(cluster)).toContain(server?.pid);
    expect(await ask('select n from kept')).toEqual([7]);
  });

  test('a pid file whose pid is now of another process does not hinder', async () => {
    const { clusterFolder, stop } = await start();
    const pidFile = readFileSync(join(clusterFolder, 'postmaster.pid'), 'utf8');
    await stop();
    const other = startBuiltProcess('setInterval(() => {}, 1000)', [], isRoot ? { uid: NOBODY_ID } : {});
    try {
      writeFileSync(join(clusterFolder, 'postmaster.pid'), pidFile.replace(/^\d+/, String(other.child.pid)));
      await start();
      expect(await ask('select 1')).toEqual([1]);
      expect(other.child.exitCode).toBeNull();
    } finally {
      await other.kill();
    }
  });

  test('an unexpected end is reported once, with its reason; a stop is not', async () => {
    const reasons: string[] = [];
    const { pid, stop } = await start({ onUnexpectedExit: (reason) => reasons.push(reason) });
    process.kill(pid, 'SIGKILL');
    await waitFor(() => reasons.length > 0);
    expect(reasons[0]).toMatch(/^PostgreSQL ended with SIGKILL/);
    await stop();
    const again = await start({ onUnexpectedExit: (reason) => reasons.push(reason) });
    await again.stop();
    expect(reasons).toHaveLength(1);
  });
});

describe('accounts', () => {
  test.runIf(isRoot)(
    'root starts it as another, within a data directory that account can enter',
    async () => {
      const { clusterFolder, accountName, isOutsideDataDir } = await start();
      expect(['postgres', 'nobody']).toContain(accountName);
      expect(isOutsideDataDir).toBe(false);
      expect(clusterFolder.startsWith(dataDir)).toBe(true);
      expect(statSync(clusterFolder).uid).not.toBe(0);
    },
  );

  test.runIf(isRoot)(
    'under a folder that only root may enter, the cluster is placed elsewhere, for good',
    async () => {
      chmodSync(dataDir, 0o700);
      const first = await start();
      expect(first.isOutsideDataDir).toBe(true);
      await ask('create table kept (n integer)');
      await first.stop();
      chmodSync(dataDir, 0o755);
      const second = await start();
      expect(second.clusterFolder).toBe(first.clusterFolder);
      expect(await ask('select count(*)::int from kept')).toEqual([0]);
      await second.stop();

      const copy = `${dataDir}-copy`;
      cpSync(dataDir, copy, { recursive: true });
      try {
        await expect(startEmbeddedPostgres({ dataDir: copy, log })).rejects.toThrow(
          `${copy} is a copy of it`,
        );
      } finally {
        rmSync(copy, { recursive: true });
      }
    },
  );

  test.runIf(isRoot)('an ordinary user starts it alone; root, later, as that user', async () => {
    chownSync(dataDir, NOBODY_ID, NOBODY_ID);
    const { accountName, cluster, pid } = await startService({ uid: NOBODY_ID, gid: NOBODY_ID });
    expect(accountName).toBeNull();
    expect(statSync(cluster).uid).toBe(NOBODY_ID);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(true);
    await service?.kill();
    await start();
    expect(isRunning({ pid, startTime: undefined })).toBe(false);
    expect(await ask('select n from kept')).toEqual([7]);
  });
});
