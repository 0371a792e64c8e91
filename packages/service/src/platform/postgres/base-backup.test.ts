import { chmodSync, existsSync, rmSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectTo, waitFor } from '../../testing/index.js';
import { copyDataDir, newScratchFolder } from '../../testing/scratch-folder.js';
import { startedCluster } from '../../testing/started-cluster.js';
import { BackupUnderWayError, BaseBackup, CONTROL_FILE, isBackupUnderWay } from './base-backup.js';
import type { Postgres } from './connect.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';
import { findCluster, restoreCluster } from './restored-cluster.js';

const log = pino({ level: 'silent' });
/** PostgreSQL would soon use the files of the log again if nothing kept them. */
const settings = { fsync: 'off', max_wal_size: '32MB', min_wal_size: '32MB' };
const WRITERS = 3;

let dataDir: string;
let restoredDir: string;
let server: EmbeddedPostgres;
let postgres: Postgres;
beforeAll(async () => {
  dataDir = newDataDir();
  copyDataDir(await startedCluster(), dataDir);
  server = await startEmbeddedPostgres({ dataDir, log, settings });
  postgres = connectTo(server.connection);
});
afterAll(async () => {
  await postgres.close();
  await server.stop();
  removeDataDir(dataDir, server);
});
beforeEach(async () => {
  restoredDir = newDataDir();
  await postgres.pool.query('drop table if exists written');
  await postgres.pool.query('create table written (writer integer, number integer, filler text)');
});
afterEach(() => rmSync(restoredDir, { recursive: true, force: true }));

function newDataDir(): string {
  const folder = newScratchFolder('base-backup-');
  chmodSync(folder, 0o711);
  return folder;
}

function removeDataDir(folder: string, { isOutsideDataDir, clusterFolder }: EmbeddedPostgres): void {
  if (isOutsideDataDir) rmSync(dirname(clusterFolder), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** Writers that each insert 1, 2, 3 … until they are stopped. */
class Writers {
  /** The last committed number of each. */
  readonly committed: number[] = Array.from({ length: WRITERS }, () => 0);
  #isStopped = false;
  readonly #running = this.committed.map((_number, writer) => this.#write(writer));

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #write(writer: number): Promise<void> {
    while (!this.#isStopped) {
      const number = (this.committed[writer] ?? 0) + 1;
      await postgres.pool.query(`insert into written values ($1, $2, repeat('x', 500))`, [writer, number]);
      this.committed[writer] = number;
    }
  }

  async goOn(): Promise<void> {
    const before = [...this.committed];
    await waitFor(() => this.committed.every((number, writer) => number > (before[writer] ?? 0) + 20));
  }
}

/** Ends the backup after `work`, also if that fails. */
async function duringBackup(work: (base: BaseBackup) => Promise<void>): Promise<void> {
  const base = await BaseBackup.start(postgres, server.clusterFolder);
  try {
    await work(base);
  } catch (error) {
    base.abandon();
    throw error;
  }
  await base.end();
}

/** Copies the entries of a base backup, and what `stop` adds. */
async function copyTo(folder: string, base: BaseBackup, beforeStop: () => Promise<void>): Promise<void> {
  const from = server.clusterFolder;
  for await (const { path, isFolder } of base.entries()) {
    if (isFolder) await mkdir(join(folder, path), { recursive: true });
    else if (existsSync(join(from, path))) await copyFile(join(from, path), join(folder, path));
  }
  await copyFile(join(from, CONTROL_FILE), join(folder, CONTROL_FILE));
  await beforeStop();
  const { label, logFiles } = await base.stop();
  for (const path of logFiles) await copyFile(join(from, path), join(folder, path));
  await writeFile(join(folder, 'backup_label'), label);
}

describe('a base backup', () => {
  test('has what was committed before its end, and nothing with a gap, although rows are written', async () => {
    const writers = new Writers();
    await writers.goOn();
    const passwordOfServer = findCluster(dataDir)?.passwordFile ?? '';
    let before: number[] = [];
    await restoreCluster(restoredDir, log, async ({ clusterFolder, passwordFile }) => {
      await duringBackup((base) =>
        copyTo(clusterFolder, base, async () => {
          await writers.goOn();
          before = [...writers.committed];
        }),
      );
      await copyFile(passwordOfServer, passwordFile);
    });
    await writers.stop();
    const restored = await startEmbeddedPostgres({ dataDir: restoredDir, log, settings });
    const copy = connectTo(restored.connection);
    const { rows } = await copy.pool.query<{ count: number; last: number }>(
      'select count(*)::integer as count, max(number) as last from written group by writer order by writer',
    );
    await copy.close();
    await restored.stop();
    expect(rows.map(({ count }) => count)).toEqual(rows.map(({ last }) => last));
    for (const [writer, { last }] of rows.entries()) expect(last).toBeGreaterThanOrEqual(before[writer] ?? 0);
  });

  test('keeps all of the log that it needs, however much is written', () =>
    duringBackup(async (base) => {
      for (let round = 0; round < 8; round += 1) {
        await postgres.pool.query(
          `insert into written select 0, n, repeat('x', 500) from generate_series(1, 2000) n`,
        );
        await postgres.pool.query('select pg_switch_wal()');
        await postgres.pool.query('checkpoint');
      }
      const { logFiles } = await base.stop();
      expect(logFiles.length).toBeGreaterThan(8);
      expect(logFiles.filter((path) => !existsSync(join(server.clusterFolder, path)))).toEqual([]);
    }));

  test('leaves out what belongs to the running server', () =>
    duringBackup(async (base) => {
      const paths: string[] = [];
      for await (const { path } of base.entries()) paths.push(path);
      expect(paths.filter((path) => /^pg_(wal|replslot|notify|stat_tmp)\//.test(path))).toEqual([]);
      expect(paths).not.toContain('postmaster.pid');
      expect(paths).toContain('pg_wal');
      expect(paths).toContain('PG_VERSION');
      expect(paths).not.toContain(CONTROL_FILE);
      await base.stop();
    }));
});

describe('files stay', () => {
  test('from the start of a backup to its end', async () => {
    expect(await isBackupUnderWay(postgres)).toBe(false);
    await duringBackup(async (base) => {
      expect(await isBackupUnderWay(postgres)).toBe(true);
      await base.stop();
      expect(await isBackupUnderWay(postgres)).toBe(true);
    });
    expect(await isBackupUnderWay(postgres)).toBe(false);
  });

  test('no longer than its session, whose loss makes the backup fail', async () => {
    const base = await BaseBackup.start(postgres, server.clusterFolder);
    await base.stop();
    await postgres.pool.query('select pg_terminate_backend(active_pid) from pg_replication_slots');
    await waitFor(async () => !(await isBackupUnderWay(postgres)));
    await expect(base.end()).rejects.toThrow();
    await waitFor(async () => (await postgres.pool.query('select from pg_replication_slots')).rowCount === 0);
  });

  test('for one backup at a time', () =>
    duringBackup(async (base) => {
      await expect(BaseBackup.start(postgres, server.clusterFolder)).rejects.toThrow(BackupUnderWayError);
      expect(await isBackupUnderWay(postgres)).toBe(true);
      await base.stop();
    }));
});
