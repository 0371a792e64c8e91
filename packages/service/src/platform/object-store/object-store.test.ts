import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openMarkedStore, S3_CREDENTIALS, useObjectStoreKinds } from '../../testing/index.js';
import {
  describeObjectStore,
  type ObjectStore,
  ObjectStoreError,
  openObjectStore,
  probeObjectStore,
  readObjectStoreUrl,
  sweepUnusedObjects,
} from './index.js';

const HOUR_MS = 3_600_000;
const open = (url: string) => openObjectStore(readObjectStoreUrl(url));

const stores = useObjectStoreKinds();

describe.each(stores.kinds)('an object store at %s', (_kind, urlOf) => {
  let store: ObjectStore;
  beforeEach(async () => {
    store = await openMarkedStore(urlOf());
  });
  afterEach(() => store.close());

  const listed = async (name: string, beforeMs = Date.now() + HOUR_MS) => {
    const keys: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.list({ folder: name, beforeMs, after });
      keys.push(...page.keys);
      after = page.next;
    } while (after !== undefined);
    return keys;
  };

  it('returns an object unchanged, and any part of it', async () => {
    let number = 0;
    const pieces = fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        pieces,
        fc.nat(1_000),
        fc.integer({ min: 1, max: 1_000 }),
        async (parts, offset, byteCount) => {
          const bytes = Buffer.concat(parts);
          fc.pre(bytes.length > 0);
          const key = `things/${number++}`;
          await store.put(
            key,
            parts.map((part) => Buffer.from(part)),
          );
          expect(await store.get(key)).toEqual(bytes);
          expect(await store.get(key, { offset, byteCount })).toEqual(
            bytes.subarray(offset, offset + byteCount),
          );
        },
      ),
      { numRuns: 30 },
    );
  });

  it('has no object that was not put, or that was deleted', async () => {
    await store.put('things/a', [Buffer.from('a')]);
    await store.delete(['things/a', 'things/never-put']);
    expect(await store.get('things/a')).toBeUndefined();
    expect(await store.get('things/a', { offset: 0, byteCount: 1 })).toBeUndefined();
    expect(await store.get('others/a')).toBeUndefined();
  });

  it('lists the objects of a folder by their age, page by page', async () => {
    expect(await listed('things')).toEqual([]);
    const names = Array.from({ length: 1_003 }, (_, index) => `things/${String(index).padStart(5, '0')}`);
    for (let start = 0; start < names.length; start += 50) {
      await Promise.all(names.slice(start, start + 50).map((key) => store.put(key, [Buffer.from('1')])));
    }
    await store.put('others/a', [Buffer.from('a')]);
    const first = await store.list({ folder: 'things', beforeMs: Date.now() + HOUR_MS });
    expect(first).toEqual({ keys: names.slice(0, 1_000), next: names[999] });
    expect(await listed('things')).toEqual(names);
    expect(await listed('things', Date.now() - HOUR_MS)).toEqual([]);
    expect(await listed('others')).toEqual(['others/a']);
  });

  it('refuses keys that lead out of it', async () => {
    for (const key of ['../secret', 'things/../../secret', '/etc/passwd', 'things', 'things/', 'a/b/c']) {
      const attempt = async () => store.put(key, []);
      await expect(attempt()).rejects.toThrow('not a key of an object');
    }
  });

  it('is probed by an object, and nothing of it is left', async () => {
    await probeObjectStore(store);
    expect(await listed('probes')).toEqual([]);
  });

  it('is swept of old objects to which nothing points, and of nothing else', async () => {
    for (const name of ['used', 'unused']) await store.put(`things/${name}`, [Buffer.from(name)]);
    await store.put('others/unused', [Buffer.from('b')]);
    const things = { folder: 'things', pointedAt: async () => new Set(['things/used']) };
    const now = Date.now();
    expect(await sweepUnusedObjects(store, things, now + 23 * HOUR_MS)).toBe(0);
    expect(await listed('things')).toEqual(['things/unused', 'things/used']);
    expect(await sweepUnusedObjects(store, things, now + 25 * HOUR_MS)).toBe(1);
    expect(await listed('things')).toEqual(['things/used']);
    expect(await listed('others')).toEqual(['others/unused']);
  });
});

describe('a folder of objects', () => {
  it('must exist', async () => {
    await expect(open(pathToFileURL(join(stores.folder, 'none')).href)).rejects.toMatchObject({
      name: 'ObjectStoreError',
      code: 'ENOENT',
    });
  });

  it('does not look empty when its share is gone', async () => {
    const store = await openMarkedStore(pathToFileURL(stores.folder).href);
    await store.put('things/a', [Buffer.from('a')]);
    await rename(stores.folder, `${stores.folder}-away`);
    try {
      const failed = { name: 'ObjectStoreError', code: 'ENOENT' };
      await expect(store.get('things/a')).rejects.toMatchObject(failed);
      await expect(store.put('things/b', [])).rejects.toMatchObject(failed);
      await expect(store.put('others/b', [])).rejects.toMatchObject(failed);
      await expect(store.list({ folder: 'things', beforeMs: 0 })).rejects.toMatchObject(failed);
    } finally {
      await rename(`${stores.folder}-away`, stores.folder);
    }
    expect(await store.get('things/a')).toEqual(Buffer.from('a'));
  });

  it('takes no objects without the mark of a store', async () => {
    const store = await open(pathToFileURL(stores.folder).href);
    await expect(store.put('things/a', [])).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(stores.folder)).toEqual([]);
  });

  it('keeps what is not an object', async () => {
    const store = await openMarkedStore(pathToFileURL(stores.folder).href);
    await store.put('things/a', [Buffer.from('a')]);
    await writeFile(join(stores.folder, 'things', 'Notes of ours.txt'), '');
    const things = { folder: 'things', pointedAt: async () => new Set<string>() };
    expect(await sweepUnusedObjects(store, things, Date.now() + 25 * HOUR_MS)).toBe(1);
    expect(await readdir(join(stores.folder, 'things'))).toEqual(['Notes of ours.txt']);
  });
});

describe('a bucket', () => {
  it('fails, and reports no object as missing, when it does not exist or cannot be reached', async () => {
    const noBucket = await open(`s3://no-bucket/?endpoint=${stores.s3.endpoint}&path_style=1`);
    await expect(noBucket.get('things/a')).rejects.toMatchObject({ code: 'NoSuchBucket' });
    const away = await open('s3://bucket/?endpoint=http://127.0.0.1:9&path_style=1');
    await expect(away.get('things/a')).rejects.toBeInstanceOf(ObjectStoreError);
    await expect(away.put('things/a', [Buffer.from('a')])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('names no credentials in errors', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIA-NOBODY');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-nobody');
    const store = await open(stores.s3.url('a'));
    const error = await store.put('things/a', [Buffer.from('a')]).catch((thrown: unknown) => thrown);
    for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
    expect(error).toBeInstanceOf(ObjectStoreError);
    const told = JSON.stringify({ ...(error as Error), stack: String((error as Error).stack) });
    expect(told).not.toMatch(/NOBODY|secret-of-nobody/);
    expect((error as Error).cause).toBeUndefined();
  });

  it('tries again after a broken connection', async () => {
    const store = await open(stores.s3.url('again'));
    let requests = 0;
    stores.s3.onRequest = async () => {
      requests += 1;
      if (requests === 1) throw new Error('cut');
    };
    await store.put('things/a', [Buffer.from('a')]);
    stores.s3.onRequest = async () => {};
    expect(requests).toBe(2);
    expect(await store.get('things/a')).toEqual(Buffer.from('a'));
  });
});

describe('the URL of an object store', () => {
  it.each([
    [
      'file:///srv/shared%20objects',
      { kind: 'folder', folder: '/srv/shared objects', segmentBytesMin: 8_192 },
    ],
    ['file:///srv/objects?segment_kib=0', { kind: 'folder', folder: '/srv/objects', segmentBytesMin: 0 }],
    [
      's3://bucket',
      {
        kind: 's3',
        bucket: 'bucket',
        prefix: '',
        endpoint: undefined,
        region: undefined,
        pathStyle: false,
        segmentBytesMin: 65_536,
      },
    ],
    [
      's3://a.bucket-1/some/Prefix/?endpoint=https://s3.example.com:9000&region=eu-1&path_style=1&segment_kib=16',
      {
        kind: 's3',
        bucket: 'a.bucket-1',
        prefix: 'some/Prefix/',
        endpoint: 'https://s3.example.com:9000',
        region: 'eu-1',
        pathStyle: true,
        segmentBytesMin: 16_384,
      },
    ],
  ])('%s', (url, location) => {
    expect(readObjectStoreUrl(url)).toEqual(location);
    expect(describeObjectStore(readObjectStoreUrl(url))).not.toContain('?');
  });

  it.each([
    ['/srv/objects', /^file:\/\/\/shared\/folder or s3:/],
    ['https://bucket.s3.amazonaws.com', /^file:\/\/\/shared\/folder or s3:/],
    ['file://', /the absolute path of a folder/],
    ['file://host/srv', /the absolute path of a folder/],
    ['file:///srv?x=1', /a file:\/\/ URL with no other parameters than segment_kib/],
    ['file:///srv?segment_kib=1.5', /whose segment_kib is a whole number from 0 to 8192/],
    ['s3://bucket?segment_kib=9000', /whose segment_kib is a whole number from 0 to 8192/],
    ['s3://key:secret@bucket', /credentials belong in AWS_ACCESS_KEY_ID/],
    ['s3://B_ucket', /the name of a bucket/],
    ['s3://bucket/a b', /a prefix of up to 10 parts/],
    [`s3://bucket/${'a'.repeat(300)}`, /200 characters/],
    ['s3://bucket?secret=1', /no other parameters than endpoint, region, path_style, segment_kib/],
    ['s3://bucket?region=a&region=b', /each parameter once/],
    ['s3://bucket?region=a%20b', /whose region/],
    ['s3://bucket?path_style=true', /whose path_style is 0 or 1/],
    ['s3://bucket?endpoint=ftp://a', /whose endpoint is an http/],
    ['s3://bucket?endpoint=http://a:b@c', /without credentials/],
  ])('%s is refused', (url, problem) => {
    expect(() => readObjectStoreUrl(url)).toThrow(problem);
    expect(() => readObjectStoreUrl(url)).not.toThrow(/secret=1|key:secret|a:b/);
  });
});
