import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { everyBlock, holdArchive } from '../modules/archive/index.js';
import { unarchivedEvents } from '../modules/rebuild/index.js';
import { forEachAtOnce } from '../platform/at-once.js';
import { BackupWriter, COPIES_AT_ONCE } from '../platform/backup/index.js';
import { InstanceLockedError } from '../platform/instance-lock.js';
import type { Logger } from '../platform/log/index.js';
import {
  BackupUnderWayError,
  BaseBackup,
  type ClusterFiles,
  CONTROL_FILE,
  checkMigrations,
  connectPostgres,
  findCluster,
  isUnavailable,
  type Postgres,
  type PostgresConnection,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../platform/postgres/index.js';
import { VERSION } from '../platform/version.js';
import { localFolders } from './data-dir.js';
import { withInstanceLock } from './instance.js';
import { exitOnSignal } from './signals.js';
import { StartError } from './start-error.js';
import { createCommandLog } from './with-stores.js';

/** Where the parts of an installation are in its backup. Other paths are the same as in the data directory. */
export const BACKUP_PATHS = {
  cluster: 'postgres/cluster',
  password: 'postgres/password',
  serviceKey: 'service-key',
} as const;

/** One holds the archive, one the state of the backup, one runs queries. */
const CONNECTIONS = 3;
const GIB = 1_024 ** 3;
const MIB = 1_024 ** 2;

/** `tollgate backup PATH`: copies an installation with an embedded PostgreSQL, whether its service runs or not. */
export async function backup(config: Config, argument: string): Promise<number> {
  refuseServers(config, 'backup');
  exitOnSignal();
  const folder = resolve(argument);
  checkOutside(config.dataDir, folder);
  const cluster = findCluster(config.dataDir);
  if (cluster === undefined) throw new StartError(`There is no installation in ${config.dataDir}.`);
  try {
    await withEmbeddedPostgres(config, (postgres) => writeBackup(config, folder, { postgres, cluster }));
  } catch (error) {
    throw explained(error, 'backup', folder);
  }
  return 0;
}

/** @throws StartError if PostgreSQL is a server, which has tools of its own for this */
export function refuseServers({ databaseUrl }: Config, command: string): void {
  if (databaseUrl === undefined) return;
  throw new StartError(
    `tollgate ${command} is for the embedded PostgreSQL; with TOLLGATE_DATABASE_URL, use the tools of that server (docs/guides/backups.md).`,
  );
}

function checkOutside(dataDir: string, folder: string): void {
  if (!`${folder}${sep}`.startsWith(`${dataDir}${sep}`)) return;
  throw new StartError(`The backup must not be in the data directory ${dataDir}.`);
}

interface Installation {
  readonly postgres: Postgres;
  readonly cluster: ClusterFiles;
}

/** Connects to the PostgreSQL of the running service, or starts it if no service runs. */
async function withEmbeddedPostgres(
  config: Config,
  work: (postgres: Postgres) => Promise<void>,
): Promise<void> {
  const log = createCommandLog(config);
  try {
    await withInstanceLock(config, async () => {
      const server = await startEmbeddedPostgres({ dataDir: config.dataDir, log });
      try {
        await withConnection(server.connection, log, work);
      } finally {
        await server.stop();
      }
    });
  } catch (error) {
    if (!(error instanceof InstanceLockedError)) throw error;
    const connection = runningEmbeddedPostgres(config.dataDir);
    if (connection === undefined) throw error;
    await withConnection(connection, log, work);
  }
}

async function withConnection(
  connection: PostgresConnection,
  log: Logger,
  work: (postgres: Postgres) => Promise<void>,
): Promise<void> {
  const postgres = connectPostgres({
    connection,
    applicationName: 'tollgate backup',
    poolMax: CONNECTIONS,
    log,
  });
  try {
    // A service of an earlier release may delete files during a backup.
    await checkMigrations(postgres);
    await work(postgres);
  } finally {
    await postgres.close();
  }
}

async function writeBackup(config: Config, folder: string, { postgres, cluster }: Installation) {
  const origin = {
    release: VERSION,
    postgres: cluster.majorVersion,
    begun_at: new Date(systemClock.nowMs()).toISOString(),
  };
  const writer = await BackupWriter.create(folder, origin, progress());
  try {
    // Nothing leaves the archive while it is held.
    await holdArchive(postgres, async () => {
      await copyArchive(writer, postgres, config);
      await copyRest(writer, config, { postgres, cluster });
    });
    await writer.finish();
  } finally {
    await writer.close();
  }
  await warnOfMissing(postgres);
  say(`The backup in ${folder} is complete: ${writer.files} files, ${Math.ceil(writer.bytes / MIB)} MiB.`);
  say('It contains secrets and the data of all tenants: store it where only operators can read it.');
}

/** Copies everything except the archived blocks that are in the backup already. */
async function copyRest(writer: BackupWriter, config: Config, { postgres, cluster }: Installation) {
  const base = await BaseBackup.start(postgres, cluster.clusterFolder);
  try {
    await copyCluster(writer, base, cluster);
    // Rows that the backup contains point at these files, which were on disk before the rows and stay until the end.
    const { segments, spool } = localFolders(config.dataDir);
    await writer.addFilesOf('segments', segments);
    await writer.addFilesOf('spool', spool);
    await copyArchive(writer, postgres, config);
    await writer.addFile(BACKUP_PATHS.password, cluster.passwordFile);
    await writer.addFile(BACKUP_PATHS.serviceKey, join(config.dataDir, BACKUP_PATHS.serviceKey));
  } catch (error) {
    base.abandon();
    throw error;
  }
  await base.end();
}

/**
 * Copies the archived blocks that are not in the backup yet. The archive is most of an installation, so it is copied
 * before the rest, while nothing else must stay; the blocks of this time follow at the end.
 */
async function copyArchive(writer: BackupWriter, { db }: Postgres, { dataDir }: Config): Promise<void> {
  for await (const { objectKey } of everyBlock(db)) {
    const path = `archive/${objectKey}`;
    if (existsSync(join(writer.folder, path))) continue;
    if (await writer.addFile(path, join(dataDir, path))) continue;
    throw new StartError(`The file ${path} of the archive is missing in ${dataDir}.`);
  }
}

async function warnOfMissing(postgres: Postgres): Promise<void> {
  const events = await unarchivedEvents(postgres);
  if (events === 0) return;
  say(
    `The backup lacks the history of ${events} events, which were inserted into ClickHouse by a release without an archive. Their amounts are in it.`,
  );
}

async function copyCluster(writer: BackupWriter, base: BaseBackup, { clusterFolder }: ClusterFiles) {
  const { cluster } = BACKUP_PATHS;
  const add = (path: string) => writer.addFile(`${cluster}/${path}`, join(clusterFolder, path));
  await forEachAtOnce(base.entries(), COPIES_AT_ONCE, async ({ path, isFolder }) => {
    if (isFolder) await writer.addFolder(`${cluster}/${path}`);
    else await add(path);
  });
  await add(CONTROL_FILE);
  const { label, logFiles } = await base.stop();
  for (const path of logFiles) {
    if (!(await add(path))) throw new Error(`${path} of the PostgreSQL cluster is missing`);
  }
  await writer.addText(`${cluster}/backup_label`, label);
}

/** Returns a function that prints each GiB that was copied. */
function progress(): (bytes: number) => void {
  let printed = 0;
  return (bytes) => {
    const copied = Math.floor(bytes / GIB);
    if (copied > printed) say(`${copied} GiB copied`);
    printed = copied;
  };
}

/** Returns the error with a sentence for the operator, where one helps. */
export function explained(error: unknown, command: 'backup' | 'restore', folder: string): unknown {
  if (error instanceof BackupUnderWayError) {
    return new StartError('Another backup of this installation is under way: wait for its end.');
  }
  const { code, path, message, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EACCES') {
    return new StartError(
      `${path} is closed to this user: run tollgate ${command} as the user of the service.`,
    );
  }
  if (syscall === 'mkdir' && code !== 'ENOSPC') {
    return new StartError(`The folder ${path} cannot be created (${code}): name another one.`);
  }
  if (code === 'ENOSPC') return new StartError(`The disk is full, so ${folder} is not complete.`);
  if (isUnavailable(error)) {
    return new StartError(`PostgreSQL cannot be reached, so ${folder} is not complete (${message}).`);
  }
  // The message of the file system names the problem and the path.
  if (path !== undefined) return new StartError(`tollgate ${command} cannot go on: ${message}.`);
  return error;
}

/** Prints a line of a command. */
export function say(text: string): void {
  console.log(`tollgate: ${text}`);
}
