import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../config.js';
import { BackupWriter } from '../platform/backup/index.js';
import { embeddedMajorVersion } from '../platform/postgres/index.js';
import { VERSION } from '../platform/version.js';
import { backup, explained } from './backup.js';
import { operatorSentence } from './operator-error.js';
import { restore } from './restore.js';

let scratch: string;
let dataDir: string;
let folder: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'tollgate-backup-'));
  [dataDir, folder] = [join(scratch, 'data'), join(scratch, 'backup')];
});
afterEach(() => rm(scratch, { recursive: true }));

const config = (variables: Record<string, string> = {}) =>
  readConfig({ TOLLGATE_DATA_DIR: dataDir, ...variables });

/** Makes a backup of another origin, with these files. */
async function backupOf(
  origin: { release?: string; postgres?: string },
  paths: string[] = [],
): Promise<void> {
  const own = { release: VERSION, postgres: embeddedMajorVersion(), begun_at: '2026-11-25T00:00:00.000Z' };
  const writer = await BackupWriter.create(folder, { ...own, ...origin }, () => {});
  for (const path of paths) await writer.addText(path, 'text');
  await writer.finish();
  await writer.close();
}

describe('tollgate backup refuses', () => {
  test('a PostgreSQL server, which has tools of its own', async () => {
    const server = config({ TOLLGATE_DATABASE_URL: 'postgresql://localhost/tollgate' });
    await expect(backup(server, folder)).rejects.toThrow('use the tools of that server');
    await expect(restore(server, folder)).rejects.toThrow('use the tools of that server');
  });

  test('a data directory without an installation, and makes none', async () => {
    await expect(backup(config(), folder)).rejects.toThrow(`There is no installation in ${dataDir}.`);
  });

  test.each(['', '/inside'])('a folder that is the data directory, or in it: %j', async (path) => {
    await expect(backup(config(), dataDir + path)).rejects.toThrow('must not be in the data directory');
  });
});

test('a folder that cannot be used is a sentence, without a stack', async () => {
  const file = join(scratch, 'note');
  await writeFile(file, '');
  const failure = await mkdir(join(file, 'backup')).catch((error: unknown) => error);
  expect(operatorSentence(explained(failure, 'backup', folder))).toBe(
    `The folder ${file}/backup cannot be created (ENOTDIR): name another one.`,
  );
  await backupOf({}, ['postgres/password']);
  await rm(join(folder, 'postgres'), { recursive: true });
  await writeFile(join(folder, 'postgres'), '');
  const restored = await restore(config(), folder).catch((error: unknown) => error);
  expect(operatorSentence(restored)).toMatch(/^tollgate restore cannot go on: ENOTDIR: not a directory/);
});

describe('tollgate restore refuses', () => {
  test('a backup of a newer release', async () => {
    await backupOf({ release: '999.0.0' });
    await expect(restore(config(), folder)).rejects.toThrow(
      `The backup is of Tollgate 999.0.0, which is newer than this release (${VERSION}): restore it with 999.0.0 or later.`,
    );
  });

  test('a backup of another PostgreSQL', async () => {
    await backupOf({ postgres: '12' });
    await expect(restore(config(), folder)).rejects.toThrow('The backup is of PostgreSQL 12');
  });

  test('a data directory that is not empty', async () => {
    await backupOf({ release: '0.0.1' });
    await writeFile(join(scratch, 'note'), '');
    const used = config({ TOLLGATE_DATA_DIR: scratch });
    await expect(restore(used, folder)).rejects.toThrow(`The data directory ${scratch} is not empty`);
  });
});
