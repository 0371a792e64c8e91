import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { clearLeftover } from './leftover.js';
import { forgetPlacement } from './placement.js';

/**
 * Deletes the embedded cluster of a data directory, wherever it was placed. A server that a killed service left behind
 * is ended first: the caller must hold the directory's instance lock.
 */
export async function removeEmbeddedPostgres(dataDir: string): Promise<void> {
  const { clusterFolder, baseFolder } = await forgetPlacement(dataDir);
  if (existsSync(clusterFolder)) await clearLeftover(clusterFolder);
  await rm(baseFolder, { recursive: true, force: true });
}
