import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { waitFor } from './wait-for.js';

/** Timeout of filling a shared folder, on a busy machine. */
const FILL_MS_MAX = 120_000;

/**
 * Returns a folder that is deleted when the tests end, also when they are killed: for data that several test files use,
 * in memory where there is room. Every account may enter its parent folders.
 */
export function newScratchFolder(prefix: string): string {
  return mkdtempSync(join(inject('scratchFolder'), prefix));
}

/**
 * Returns a folder with data that all workers use: the first that asks fills it, and others wait. It is deleted like
 * those of `newScratchFolder`.
 */
export async function sharedScratchFolder(
  name: string,
  fill: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(inject('scratchFolder'), name);
  const mark = `${folder}.filled`;
  while (!existsSync(mark)) {
    if (!makesFolder(folder)) {
      const what = `the folder ${folder}, which another worker fills,`;
      await waitFor(() => existsSync(mark) || !existsSync(folder), { timeoutMs: FILL_MS_MAX, what });
      continue;
    }
    try {
      await fill(folder);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    writeFileSync(mark, '');
  }
  return folder;
}

/** Whether the folder was not there before. */
function makesFolder(path: string): boolean {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // As every folder of a data directory: PostgreSQL's account must be able to pass through.
  chmodSync(path, 0o711);
  return true;
}

/**
 * Copies a data directory, so that PostgreSQL finds a cluster. When PostgreSQL's account cannot enter it, the cluster
 * is elsewhere, and a copy would be refused: then nothing is copied.
 */
export function copyDataDir(from: string, to: string): void {
  // Not with Node, whose copies belong to the caller: PostgreSQL runs under another account than root.
  if (existsSync(join(from, 'postgres'))) execFileSync('cp', ['-a', `${from}/.`, to]);
}
