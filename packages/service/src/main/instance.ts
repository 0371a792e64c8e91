import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { acquireInstanceLock, type InstanceLock } from '../platform/instance-lock.js';

/** Contains the URL of the service of this data directory, for commands that run at the same time. */
const URL_FILE = 'service-url';

/** Whether this process keeps a store of its own in the data directory. */
export function usesEmbeddedStore({ databaseUrl, clickhouseUrl }: Config): boolean {
  return databaseUrl === undefined || clickhouseUrl === undefined;
}

/**
 * Locks the data directory if it contains an embedded store.
 *
 * @throws InstanceLockedError
 */
export async function lockInstance(config: Config): Promise<InstanceLock> {
  if (!usesEmbeddedStore(config)) return { release: async () => {} };
  return acquireInstanceLock(config.dataDir);
}

/**
 * Runs `work` while no other process can use the data directory.
 *
 * @throws InstanceLockedError
 */
export async function withInstanceLock<T>(config: Config, work: () => Promise<T>): Promise<T> {
  const lock = await lockInstance(config);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Stores this service's URL; the returned function removes it. */
export function announceUrl(dataDir: string, url: string): () => void {
  const file = join(dataDir, URL_FILE);
  writeFileSync(file, `${url}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

/** Returns the URL of the service that holds the data directory; undefined when it stored none. */
export function announcedUrl(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, URL_FILE), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
