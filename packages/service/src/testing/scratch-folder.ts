import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/**
 * A folder that is deleted when the tests end, also when they are killed: for data that several test files use, in
 * memory where there is room. Every account may pass through its parent folders.
 */
export function newScratchFolder(prefix: string): string {
  return mkdtempSync(join(inject('scratchFolder'), prefix));
}

/**
 * Fills a data directory with what is in another, so that PostgreSQL finds a cluster. Where its account
 * cannot enter, that is elsewhere, and a copy would be refused: then nothing is copied.
 */
export function copyDataDir(from: string, to: string): void {
  // Not by Node, which gives every copy to who makes it: PostgreSQL runs under another account than root.
  if (existsSync(join(from, 'postgres'))) execFileSync('cp', ['-a', `${from}/.`, to]);
}
