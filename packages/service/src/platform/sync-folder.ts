import { open } from 'node:fs/promises';

/** Brings a folder's entries to disk: without it a new file may be gone after a power failure, synced or not. */
export async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
