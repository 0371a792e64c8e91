import {
  appendFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BackupReader, BackupWriter } from './index.js';
import { ManifestLines } from './manifest.js';

const ORIGIN = { release: '1.2.3', postgres: '18', begun_at: '2026-11-25T00:00:00.000Z' };

let scratch: string;
let folder: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'tollgate-backup-'));
  folder = join(scratch, 'backup');
});
afterEach(() => rm(scratch, { recursive: true }));

/** Writes a backup of an empty folder, a file of three bytes, a larger file and a text. */
async function begin(): Promise<BackupWriter> {
  const writer = await BackupWriter.create(folder, ORIGIN, () => {});
  await writer.addFolder('cluster/empty');
  await writeFile(join(scratch, 'small'), 'abc');
  await writeFile(join(scratch, 'large'), Buffer.alloc(2_500_000, 'x'));
  expect(await writer.addFile('cluster/base/small', join(scratch, 'small'))).toBe(true);
  expect(await writer.addFile('cluster/base/large', join(scratch, 'large'))).toBe(true);
  expect(await writer.addFile('cluster/base/gone', join(scratch, 'gone'))).toBe(false);
  await writer.addText('label', 'text');
  return writer;
}

async function complete(): Promise<void> {
  const writer = await begin();
  await writer.finish();
  await writer.close();
}

/** Copies all files of the backup to one folder, and returns their paths. */
async function copyAll(): Promise<string[]> {
  const reader = await BackupReader.open(folder);
  const paths: string[] = [];
  for await (const entry of reader.entries()) {
    paths.push(entry.path);
    if (entry.bytes !== undefined) await reader.copy(entry, join(scratch, `copy-${paths.length}`));
  }
  return paths;
}

const isDamaged = (file: string) => `The file ${file} of the backup in ${folder} is damaged.`;

describe('a complete backup', () => {
  test('gives back every file and folder, byte for byte', async () => {
    await complete();
    expect((await BackupReader.open(folder)).origin).toEqual(ORIGIN);
    expect(await copyAll()).toEqual(['cluster/empty', 'cluster/base/small', 'cluster/base/large', 'label']);
    expect(await readFile(join(scratch, 'copy-2'), 'utf8')).toBe('abc');
    expect(Buffer.alloc(2_500_000, 'x').equals(await readFile(join(scratch, 'copy-3')))).toBe(true);
    expect(await readFile(join(scratch, 'copy-4'), 'utf8')).toBe('text');
  });

  test('is readable for its owner alone', async () => {
    await complete();
    for (const [path, mode] of [
      ['', 0o700],
      ['cluster', 0o700],
      ['cluster/base/small', 0o600],
      ['label', 0o600],
      ['manifest', 0o600],
    ] as const) {
      expect((await stat(join(folder, path))).mode & 0o777).toBe(mode);
    }
  });

  test('is not overwritten', async () => {
    await complete();
    await expect(BackupWriter.create(folder, ORIGIN, () => {})).rejects.toThrow('is not empty');
  });

  test('is refused at once where no folder can be created', async () => {
    await expect(BackupWriter.create('/proc/tollgate', ORIGIN, () => {})).rejects.toThrow(/mkdir '\/proc/);
  });
});

describe('a backup is refused', () => {
  test('that was interrupted at any moment before its end', async () => {
    const writer = await begin();
    await writer.close();
    await expect(BackupReader.open(folder)).rejects.toThrow(`There is no complete backup in ${folder}`);
  });

  test('with the name of a file whose bytes have changed', async () => {
    await complete();
    const bytes = Buffer.alloc(2_500_000, 'x');
    bytes[2_000_000] = 0;
    await writeFile(join(folder, 'cluster/base/large'), bytes);
    await expect(copyAll()).rejects.toThrow(isDamaged('cluster/base/large'));
  });

  test('with the name of a file that is shorter, before anything is copied', async () => {
    await complete();
    await truncate(join(folder, 'cluster/base/small'), 2);
    await expect(BackupReader.open(folder)).rejects.toThrow(isDamaged('cluster/base/small'));
  });

  test('with the name of a file that is missing, before anything is copied', async () => {
    await complete();
    await unlink(join(folder, 'label'));
    await expect(BackupReader.open(folder)).rejects.toThrow(
      `The file label of the backup in ${folder} is missing.`,
    );
  });

  test.each<[string, (lines: string[]) => string[]]>([
    ['lacks a line', (lines) => lines.filter((line) => !line.includes('small'))],
    ['lacks its end', (lines) => lines.slice(0, -1)],
    ['is empty', () => []],
    ['has another size', (lines) => lines.map((line) => line.replace('"bytes":3', '"bytes":4'))],
    ['has text that is not JSON', (lines) => ['x', ...lines.slice(1)]],
  ])('whose manifest %s', async (_problem, change) => {
    await complete();
    const manifest = join(folder, 'manifest');
    const lines = (await readFile(manifest, 'utf8')).trimEnd().split('\n');
    await writeFile(manifest, change(lines).join('\n'));
    await expect(BackupReader.open(folder)).rejects.toThrow(
      `The manifest of the backup in ${folder} is damaged.`,
    );
  });

  test('whose manifest has more behind its end', async () => {
    await complete();
    await appendFile(join(folder, 'manifest'), '{"path":"more"}\n');
    await expect(BackupReader.open(folder)).rejects.toThrow('is damaged');
  });

  test.each(['../outside', '/outside', 'a/../../outside', 'a//b'])(
    'with the path %s, which may lead out of its folder',
    async (path) => {
      await mkdir(folder);
      const lines = new ManifestLines();
      const text = [lines.first(ORIGIN), lines.entry({ path }), lines.last()].join('');
      await writeFile(join(folder, 'manifest'), text);
      await expect(BackupReader.open(folder)).rejects.toThrow('is damaged');
    },
  );
});
