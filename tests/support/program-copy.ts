import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Migration, StoreName } from '../../packages/service/src/platform/migration-files.js';
import { newScratchFolder } from '../../packages/service/src/testing/scratch-folder.js';
import { STORE_NAMES } from './releases.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVICE = 'packages/service';

/**
 * Copies the program that was built, as if it were of another release: with another version, and with other migrations.
 * The code is the same. Returns the file of the copy for `ServiceOptions.program`; the folder is deleted with the run.
 */
export function copyProgram(
  version: string,
  migrations: Readonly<Record<StoreName, readonly Migration[]>>,
): string {
  const folder = newScratchFolder('program-');
  const inService = (...names: string[]) => join(folder, SERVICE, ...names);
  for (const store of STORE_NAMES) {
    mkdirSync(inService('db', store), { recursive: true });
    for (const { version: number, name, sql } of migrations[store])
      writeFileSync(inService('db', store, `${String(number).padStart(4, '0')}_${name}.sql`), sql);
  }
  const manifest = JSON.parse(readFileSync(join(ROOT, SERVICE, 'package.json'), 'utf8'));
  writeFileSync(inService('package.json'), JSON.stringify({ ...manifest, version }));
  cpSync(join(ROOT, SERVICE, 'dist/bundle'), inService('dist/bundle'), { recursive: true });
  symlinkSync(join(ROOT, 'packages/console'), join(folder, 'packages/console'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return inService('dist/bundle/cli.js');
}
