import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isWellFormedApiKey } from '../../kernel/api-key-text.js';
import { loadServiceKey } from './service-key.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tollgate-service-key-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

describe('the service key', () => {
  test('that is configured is used, and nothing is written', async () => {
    expect(await loadServiceKey(dataDir, 'configured')).toEqual({
      text: 'configured',
      source: 'configured',
      file: undefined,
    });
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('is made at the first start, for its owner only, and kept', async () => {
    const nested = join(dataDir, 'not', 'yet', 'there');
    const first = await loadServiceKey(nested, undefined);
    expect(first).toMatchObject({ source: 'generated', file: join(nested, 'service-key') });
    expect(isWellFormedApiKey(first.text)).toBe(true);
    expect(await readFile(join(nested, 'service-key'), 'utf8')).toBe(`${first.text}\n`);
    expect((await stat(join(nested, 'service-key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(nested)).toEqual(['service-key']);
    expect(await loadServiceKey(nested, undefined)).toEqual({ ...first, source: 'file' });
  });

  test('is one, however many start at the same moment', async () => {
    const loaded = await Promise.all(Array.from({ length: 8 }, () => loadServiceKey(dataDir, undefined)));
    expect(new Set(loaded.map(({ text }) => text)).size).toBe(1);
    expect(loaded.filter(({ source }) => source === 'generated').length).toBe(1);
    expect(await readdir(dataDir)).toEqual(['service-key']);
  });

  test('is closed to others when the file was left open', async () => {
    const { file = '' } = await loadServiceKey(dataDir, undefined);
    await chmod(file, 0o644);
    await loadServiceKey(dataDir, undefined);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test.each(['', 'not a key', 'tg_live_000000000000000000000000000_000000'])(
    'a file that holds %j is an error, never overwritten',
    async (text) => {
      await writeFile(join(dataDir, 'service-key'), text);
      await expect(loadServiceKey(dataDir, undefined)).rejects.toThrow(/does not contain a service key/);
      expect(await readFile(join(dataDir, 'service-key'), 'utf8')).toBe(text);
    },
  );
});
