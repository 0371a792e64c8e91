import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import type { ObjectStore } from '../platform/object-store/index.js';
import { S3_CREDENTIALS, TestS3 } from './object-stores.js';

/** The kinds of object store, for the tests that run with each of them. */
export interface ObjectStoreKinds {
  /** For `describe.each`: a name, and a function that returns the URL of an empty store. */
  readonly kinds: [string, () => string][];
  /** The server for all tests of the file; its credentials are in the environment. */
  readonly s3: TestS3;
  /** An empty folder for each test. */
  readonly folder: string;
}

/** Gives the tests of one file an S3 server, and each test an empty folder. */
export function useObjectStoreKinds(): ObjectStoreKinds {
  let s3: TestS3;
  let folder: string;
  let prefixes = 0;
  beforeAll(async () => {
    for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
    s3 = await TestS3.start();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await s3.stop();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-objects-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return {
    kinds: [
      ['file://', () => pathToFileURL(folder).href],
      ['s3://', () => s3.url(`test-${prefixes++}`)],
    ],
    get s3() {
      return s3;
    },
    get folder() {
      return folder;
    },
  };
}

/** Returns a store that passes calls on to another one; a test may replace an operation. */
export function passingOn(store: ObjectStore): ObjectStore {
  return {
    put: (...call) => store.put(...call),
    get: (...call) => store.get(...call),
    delete: (...call) => store.delete(...call),
    list: (...call) => store.list(...call),
    close: () => store.close(),
  };
}
