import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from './make-folder.js';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'tollgate-folder-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

test('creates all folders of a path with the mode, and keeps those that exist', () => {
  const inner = join(scratch, 'a', 'b');
  makeFolder(inner, 0o700);
  makeFolder(inner, 0o711);
  for (const path of [join(scratch, 'a'), inner]) expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('throws for a path through a file, or to one', () => {
  const file = join(scratch, 'note');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow(/^EEXIST/);
  expect(() => makeFolder(join(file, 'a', 'b'))).toThrow(/^ENOTDIR/);
});

test('throws where the file system takes no folders', () => {
  expect(() => makeFolder('/proc/tollgate')).toThrow(/mkdir '\/proc/);
  expect(() => makeFolder('/proc/tollgate/backup')).toThrow(/mkdir '\/proc/);
});
