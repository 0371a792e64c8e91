import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/**
 * Returns a folder that is deleted when the tests end, also when they are killed: for data that several test files use,
 * in memory where there is room. Every account may enter its parent folders.
 */
export function newScratchFolder(prefix: string): string {
  return mkdtempSync(join(inject('scratchFolder'), prefix));
}

/**
 * Copies a data directory, so that PostgreSQL finds a cluster. When PostgreSQL's account cannot enter it, the cluster
 * is elsewhere, and a copy would be refused: then nothing is copied.
 */
export function copyDataDir(from: string, to: string): void {
  // Not with Node, whose copies belong to the caller: PostgreSQL runs under another account than root.
  if (existsSync(join(from, 'postgres'))) execFileSync('cp', ['-a', `${from}/.`, to]);
}
