import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { createProjector, type ProjectorObserver } from '../modules/pipeline/index.js';
import { rebuildHistory, unarchivedEvents } from '../modules/rebuild/index.js';
import { forEachAtOnce } from '../platform/at-once.js';
import { type BackupEntry, BackupReader, COPIES_AT_ONCE } from '../platform/backup/index.js';
import type { Logger } from '../platform/log/index.js';
import { compareReleases } from '../platform/migration-files.js';
import { embeddedMajorVersion, restoreCluster } from '../platform/postgres/index.js';
import { syncFolder } from '../platform/sync-folder.js';
import { VERSION } from '../platform/version.js';
import { BACKUP_PATHS, explained, refuseServers, say } from './backup.js';
import { createFolders, unfinishedRestore } from './data-dir.js';
import { withInstanceLock } from './instance.js';
import { exitOnSignal } from './signals.js';
import { StartError } from './start-error.js';
import { openStores, resetEmbeddedStores } from './stores.js';
import { createCommandLog } from './with-stores.js';

const FOLDER_MODE = 0o700;
/** Part of a new file system. */
const LOST_FOLDER = 'lost+found';

/** `tollgate restore PATH`: makes an installation from a backup, in an empty data directory. */
export async function restore(config: Config, argument: string): Promise<number> {
  refuseServers(config, 'restore');
  exitOnSignal();
  const backup = await BackupReader.open(resolve(argument)).catch((error: unknown) => {
    throw explained(error, 'restore', config.dataDir);
  });
  checkVersions(backup.origin);
  await checkEmpty(config.dataDir);
  createFolders(config);
  await withInstanceLock(config, async () => {
    const marker = unfinishedRestore(config.dataDir);
    await writeFile(marker, 'This data directory is not complete.\n', { mode: 0o600, flush: true });
    await syncFolder(config.dataDir);
    try {
      await removeAll(config);
      await makeInstallation(config, backup);
    } catch (error) {
      await removeAll(config);
      await rm(marker);
      throw explained(error, 'restore', config.dataDir);
    }
    await rm(marker);
    await syncFolder(config.dataDir);
  });
  say(`The backup of ${backup.origin.begun_at} is restored in ${config.dataDir}. Start the service.`);
  return 0;
}

/** @throws StartError if this release cannot read the backup */
function checkVersions({ release, postgres }: BackupReader['origin']): void {
  if (compareReleases(release, VERSION) > 0) {
    throw new StartError(
      `The backup is of Tollgate ${release}, which is newer than this release (${VERSION}): restore it with ${release} or later.`,
    );
  }
  const own = embeddedMajorVersion();
  if (postgres === own) return;
  throw new StartError(
    `The backup is of PostgreSQL ${postgres}, but this release runs PostgreSQL ${own}: restore it with Tollgate ${release}.`,
  );
}

/** @throws StartError if the directory contains anything except what an interrupted restore has left */
async function checkEmpty(dataDir: string): Promise<void> {
  if (!existsSync(dataDir) || existsSync(unfinishedRestore(dataDir))) return;
  if ((await readdir(dataDir)).every((name) => name === LOST_FOLDER)) return;
  throw new StartError(`The data directory ${dataDir} is not empty: a backup is restored to an empty one.`);
}

async function removeAll(config: Config): Promise<void> {
  await resetEmbeddedStores(config);
  await rm(join(config.dataDir, BACKUP_PATHS.serviceKey), { force: true });
}

async function makeInstallation(config: Config, backup: BackupReader): Promise<void> {
  const log = createCommandLog(config);
  createFolders(config);
  say('copying files …');
  await copyFiles(config, backup);
  say('restoring PostgreSQL …');
  await restoreCluster(config.dataDir, log, (target) => copyCluster(backup, target));
  await rebuild(config, log);
}

/** Copies everything except PostgreSQL. */
async function copyFiles({ dataDir }: Config, backup: BackupReader): Promise<void> {
  await forEachAtOnce(backup.entries(), COPIES_AT_ONCE, async (entry) => {
    const { cluster, password } = BACKUP_PATHS;
    if (entry.path === password || pathWithin(cluster, entry) !== undefined) return;
    await copyEntry(backup, entry, join(dataDir, entry.path));
  });
}

async function copyCluster(
  backup: BackupReader,
  { clusterFolder, passwordFile }: { readonly clusterFolder: string; readonly passwordFile: string },
): Promise<void> {
  await forEachAtOnce(backup.entries(), COPIES_AT_ONCE, async (entry) => {
    const path = pathWithin(BACKUP_PATHS.cluster, entry);
    if (path !== undefined) await copyEntry(backup, entry, join(clusterFolder, path));
    if (entry.path === BACKUP_PATHS.password) await copyEntry(backup, entry, passwordFile);
  });
}

/** Returns the path of an entry in this folder; undefined for entries outside of it. */
function pathWithin(folder: string, { path }: BackupEntry): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}

async function copyEntry(backup: BackupReader, entry: BackupEntry, to: string): Promise<void> {
  const isFolder = entry.bytes === undefined;
  await mkdir(isFolder ? to : dirname(to), { recursive: true, mode: FOLDER_MODE });
  if (!isFolder) await backup.copy(entry, to);
}

/**
 * Rebuilds the history in ClickHouse, and adds the rows that waited for it, so that the copy can be verified before the
 * service runs. Rows that the archive lacks are lost already, so it goes on without them.
 */
async function rebuild(config: Config, log: Logger): Promise<void> {
  const stores = await openStores(config, {
    log,
    onProgress: (step) => say(`${step} …`),
    onUnexpectedExit: (reason) => log.error(reason),
  });
  try {
    const missing = await unarchivedEvents(stores.postgres);
    if (missing > 0) say(`The history of ${missing} events is not in the backup.`);
    say('rebuilding the history in ClickHouse …');
    const { events } = await rebuildHistory({ ...stores, clock: systemClock, log }, { incomplete: true });
    const waited = await createProjector({ ...stores, clock: systemClock, observer: loggedTo(log) }).drain();
    say(`The history has ${events + waited} events.`);
  } finally {
    await stores.close();
  }
}

function loggedTo(log: Logger): ProjectorObserver {
  return {
    stage: () => {},
    group: () => {},
    groupFailed: (err) => log.error({ err }, 'rows could not be added to the history'),
    spoolCorrupt: (err) => log.error({ err }, 'rows that waited for ClickHouse are lost'),
  };
}
