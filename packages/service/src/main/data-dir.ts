import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { makeFolder } from '../platform/make-folder.js';
import { usesEmbeddedStore } from './instance.js';
import { StartError } from './start-error.js';

/** PostgreSQL's unprivileged account must be able to enter a directory of root; it can list nothing there. */
const ROOT_FOLDER_MODE = 0o711;
const PRIVATE_FOLDER_MODE = 0o700;

/** Folders next to an embedded PostgreSQL. */
export interface LocalFolders {
  /** Directory of large segments that wait to be rated. */
  readonly segments: string;
  /** Directory of rated batches that wait for ClickHouse. */
  readonly spool: string;
  /** Directory of the rows that were inserted into ClickHouse. */
  readonly archive: string;
}

export function localFolders(dataDir: string): LocalFolders {
  return {
    segments: join(dataDir, 'segments'),
    spool: join(dataDir, 'spool'),
    archive: join(dataDir, 'archive'),
  };
}

/** Returns the folders that only this process may enter. */
export function privateFolders(dataDir: string): string[] {
  return [join(dataDir, 'clickhouse'), ...Object.values(localFolders(dataDir))];
}

/** Returns the path of a file that a data directory has while a backup is being restored to it. */
export function unfinishedRestore(dataDir: string): string {
  return join(dataDir, 'restore-unfinished');
}

/**
 * Creates the data directory if an embedded store needs it, closed to everybody else. Over servers only, a process
 * writes no file.
 *
 * @throws StartError when it is not writable, or not complete
 */
export function prepareDataDir(config: Config): void {
  if (!usesEmbeddedStore(config)) return;
  if (existsSync(unfinishedRestore(config.dataDir))) {
    throw new StartError(
      `A restore to ${config.dataDir} was interrupted: run tollgate restore again, or delete the directory.`,
    );
  }
  createFolders(config);
}

/** Creates the data directory and the folders in it. @throws StartError when it is not writable */
export function createFolders({ dataDir }: Pick<Config, 'dataDir'>): void {
  const mode = process.getuid?.() === 0 ? ROOT_FOLDER_MODE : PRIVATE_FOLDER_MODE;
  try {
    makeFolder(dataDir, mode);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const folder of privateFolders(dataDir)) {
      makeFolder(folder, PRIVATE_FOLDER_MODE);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The data directory ${dataDir} cannot be written (${code}); set TOLLGATE_DATA_DIR to a folder that can.`,
    );
  }
}
