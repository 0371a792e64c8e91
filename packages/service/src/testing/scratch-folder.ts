import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** A folder for what several test files use; it goes when all tests have run. Every account may pass through what holds it. */
export function newScratchFolder(prefix: string): string {
  return mkdtempSync(join(inject('scratchFolder'), prefix));
}

/**
 * Fills a data directory with what is in another, so that PostgreSQL finds a cluster. Where its account cannot enter, that is
 * elsewhere, and a copy would be refused: then nothing is copied.
 */
export function copyDataDir(from: string, to: string): void {
  // Of root, Node's own copying would give it PostgreSQL's files.
  if (existsSync(join(from, 'postgres'))) execFileSync('cp', ['-a', `${from}/.`, to]);
}
