import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { chown, lchown, mkdir, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { syncFolder } from '../sync-folder.js';
import type { SystemAccount } from './account.js';
import { startEmbeddedPostgres } from './embedded.js';
import { type ClusterPlacement, existingFolders, placeCluster } from './placement.js';

/** A backup can contain the log of many hours. The operator can interrupt the recovery at any time. */
const RECOVERY_TIMEOUT_MS = 24 * 3_600_000;

/** The files of an embedded cluster, with the version of the server that can read them. */
export interface ClusterFiles {
  readonly clusterFolder: string;
  readonly passwordFile: string;
  /** Major version, for example `18`. */
  readonly majorVersion: string;
}

/** Returns the files of the embedded cluster of a data directory; undefined if it has none. */
export function findCluster(dataDir: string): ClusterFiles | undefined {
  if (!existsSync(dataDir)) return undefined;
  const folders = existingFolders(realpathSync(dataDir));
  const versionFile = join(folders.clusterFolder, 'PG_VERSION');
  if (!existsSync(versionFile)) return undefined;
  return { ...folders, majorVersion: readFileSync(versionFile, 'utf8').trim() };
}

/**
 * Makes the cluster of a data directory, which must not have one, from a base backup, and lets PostgreSQL recover it to
 * the end of the backup. The caller holds the directory's instance lock.
 *
 * @param copy writes the files of the backup to the cluster's folder, and the password to its file
 * @throws PostgresUnavailableError if PostgreSQL cannot recover the cluster
 */
export async function restoreCluster(
  dataDir: string,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
  copy: (target: Pick<ClusterPlacement, 'clusterFolder' | 'passwordFile'>) => Promise<void>,
): Promise<void> {
  const { account, baseFolder, clusterFolder, passwordFile } = await placeCluster(dataDir);
  const workFolder = join(baseFolder, 'cluster.partial');
  await rm(workFolder, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(workFolder, { mode: 0o700 });
  await copy({ clusterFolder: workFolder, passwordFile });
  if (account !== undefined) {
    await giveAll(account, workFolder);
    await chown(passwordFile, account.uid, account.gid);
  }
  await rename(workFolder, clusterFolder);
  for (const folder of [baseFolder, dirname(baseFolder)]) await syncFolder(folder);
  await (await startEmbeddedPostgres({ dataDir, log, startTimeoutMs: RECOVERY_TIMEOUT_MS })).stop();
}

async function giveAll(account: SystemAccount, folder: string): Promise<void> {
  await lchown(folder, account.uid, account.gid);
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveAll(account, path);
    else await lchown(path, account.uid, account.gid);
  }
}
