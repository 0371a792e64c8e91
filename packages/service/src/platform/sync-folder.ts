import { open } from 'node:fs/promises';

/**
 * Syncs a folder's entries to disk: without this a new file may be lost in a power failure, even if its content was
 * synced.
 */
export async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
