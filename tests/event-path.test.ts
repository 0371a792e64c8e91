import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../bench/event-path.mjs', import.meta.url));
const WALKTHROUGH = fileURLToPath(new URL('../docs/walkthrough.md', import.meta.url));

/** A reader can follow one event through so many files of the modules; kernel and platform serve them. */
const MODULE_FILES_MAX = 89;

/** The files that one event passes, and those that the first event passes. */
let path: { readonly files: readonly string[]; readonly first: readonly string[] };

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, 'json=1']);
  path = JSON.parse(stdout);
});

it('passes few files of the modules with one event', () => {
  const files = path.files.filter((file) => file.startsWith('modules/'));
  expect(files.slice(MODULE_FILES_MAX)).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining(['modules/pipeline/stages.ts', 'modules/pipeline/projector.ts']),
  );
});

it('passes the files that the walkthrough names', () => {
  const stages = readFileSync(WALKTHROUGH, 'utf8').split('\n## What people see')[0] ?? '';
  const named = [...stages.matchAll(/`((?:kernel|modules|platform)\/[\w/-]+\.ts)`/g)].map(([, file]) => file);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((file) => !path.first.includes(file ?? ''))).toEqual([]);
});
