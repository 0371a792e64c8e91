import crypto from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import S3rver from 's3rver';
import {
  MARK_KEY,
  type ObjectStore,
  openObjectStore,
  readObjectStoreUrl,
} from '../platform/object-store/index.js';

const BUCKET = 'tollgate-test';

/** The credentials that the server knows, as environment variables of a process. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

/**
 * The server encrypts the position of a page with DES, which OpenSSL no longer supports. Triple DES with three equal
 * keys gives the same result.
 */
const createCipheriv = crypto.createCipheriv;
crypto.createCipheriv = ((name: string, key: Buffer, iv: Buffer) =>
  name === 'des'
    ? createCipheriv('des-ede3-cbc', Buffer.concat([key, key, key]), iv)
    : createCipheriv(name, key, iv)) as typeof createCipheriv;

/** An S3 server on this machine, with one empty bucket. */
export class TestS3 {
  /** Called before each request; the request waits until it resolves. */
  onRequest: (method: string, path: string) => Promise<void> = async () => {};
  readonly #server: Server;
  readonly #folder: string;

  private constructor(server: Server, folder: string) {
    this.#server = server;
    this.#folder = folder;
  }

  static async start(): Promise<TestS3> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-s3-'));
    const s3 = new S3rver({
      directory: folder,
      silent: true,
      configureBuckets: [{ name: BUCKET, configs: [] }],
    });
    await s3.configureBuckets();
    const handle = s3.callback();
    const server = createServer((request, response) => {
      if (request.method === 'PUT')
        keepParent(join(folder, new URL(request.url ?? '', 'http://s3').pathname));
      void test.onRequest(request.method ?? '', request.url ?? '').then(
        () => handle(request, response),
        () => request.socket.destroy(),
      );
    });
    const test = new TestS3(server, folder);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return test;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The URL of a store in the bucket. */
  url(prefix: string): string {
    return `s3://${BUCKET}/${prefix}?endpoint=${this.endpoint}&path_style=1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * The server deletes a folder with its last object, and fails if another object is being put there. A file that is no
 * object keeps the folder.
 */
function keepParent(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(join(dirname(path), 'kept'), '');
}

/** Opens a store with a mark, without which a folder takes no objects. */
export async function openMarkedStore(url: string): Promise<ObjectStore> {
  const store = await openObjectStore(readObjectStoreUrl(url));
  if ((await store.get(MARK_KEY)) === undefined) await store.put(MARK_KEY, [Buffer.from('test')]);
  return store;
}
