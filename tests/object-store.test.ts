import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type ObjectStore,
  openObjectStore,
  readObjectStoreUrl,
} from '../packages/service/src/platform/object-store/index.js';
import { S3_CREDENTIALS, TestS3, waitFor } from '../packages/service/src/testing/index.js';
import { call } from './support/http.js';
import { Installation } from './support/installation.js';

const FAR_MS = Date.now() + 86_400_000;
async function keysOf(store: ObjectStore, folder: 'segments' | 'rows'): Promise<readonly string[]> {
  return (await store.list({ folder, beforeMs: FAR_MS })).keys;
}

describe('kill -9 of processes that use a bucket', () => {
  let s3: TestS3;
  let store: ObjectStore;
  let installation: Installation;

  beforeAll(async () => {
    for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value);
    s3 = await TestS3.start();
    store = await openObjectStore(readObjectStoreUrl(s3.url('kills')));
    installation = await Installation.start(s3.url('kills'), S3_CREDENTIALS);
  });
  afterEach(() => {
    s3.onRequest = async () => {};
  });
  afterAll(async () => {
    await installation?.stop();
    vi.unstubAllEnvs();
    await store.close();
    await s3.stop();
  });

  /** Prevents deletions of the folder's objects; the returned function tells whether one was tried. */
  function holdDeletes(folder: 'segments' | 'rows'): () => boolean {
    let isTried = false;
    s3.onRequest = async (method, path) => {
      if (method !== 'DELETE' || !path.includes(`/${folder}/`)) return;
      isTried = true;
      throw new Error('cut');
    };
    return () => isTried;
  }

  it('between the object of a segment and its row', async () => {
    const release = await installation.holdInserts('segments');
    const unanswered = installation.send('a').catch((error: unknown) => error);
    await waitFor(async () => (await keysOf(store, 'segments')).length === 1);
    await installation.roles.api.crash();
    await release();
    expect(await unanswered).toBeInstanceOf(Error);
    await installation.roles.api.start();
    await installation.accept('a');
    await installation.expectAllOnce();
  });

  it('between the object of rated rows and the commit', async () => {
    const release = await installation.holdInserts('usage_batches');
    await installation.accept('b');
    await waitFor(async () => (await keysOf(store, 'rows')).length > 0);
    await installation.roles.worker.crash();
    await release();
    await installation.roles.worker.start();
    await installation.expectAllOnce();
  });

  it('between the commit of rated segments and the deletion of their objects', async () => {
    const isTried = holdDeletes('segments');
    await installation.accept('c');
    await waitFor(isTried);
    await installation.roles.worker.crash();
    s3.onRequest = async () => {};
    await installation.roles.worker.start();
    await installation.expectAllOnce();
  });

  it('between the copy of rows into ClickHouse and the deletion of their objects', async () => {
    const isTried = holdDeletes('rows');
    await installation.accept('d');
    await waitFor(isTried);
    await installation.roles.projector.crash();
    s3.onRequest = async () => {};
    await installation.roles.projector.start();
    await installation.expectAllOnce();
  });

  it('and refuses large batches, with 503, while the bucket is unavailable', async () => {
    s3.onRequest = async () => {
      throw new Error('away');
    };
    const refused = await installation.send('e');
    expect(refused).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    const away = { status: 503, objectStore: 'failed' };
    for (const role of ['api', 'worker', 'projector'] as const) {
      await waitFor(async () => (await installation.readiness(role)).status === 503);
      expect(await installation.readiness(role)).toEqual(away);
    }
    expect((await call(installation.roles.api, 'GET', '/metrics')).text).toMatch(
      /tollgate_object_store_failures_total\{operation="put"\} [1-9]/,
    );
    await installation.accept('f', 'small');
    s3.onRequest = async () => {};
    await waitFor(async () => (await installation.readiness('api')).status === 200);
    await installation.accept('e');
    await installation.expectAllOnce();
  });

  it('and waits for slow puts', async () => {
    const held: (() => void)[] = [];
    s3.onRequest = async (method, path) => {
      if (method === 'PUT' && path.includes('/segments/')) await new Promise<void>((go) => held.push(go));
    };
    const slow = installation.accept('g');
    await waitFor(() => held.length > 0);
    expect(await installation.postgres.beside('select from segments')).toEqual([]);
    s3.onRequest = async () => {};
    for (const go of held) go();
    await slow;
    await installation.expectAllOnce();
  });
});

describe('roles in processes of their own, with a shared folder', () => {
  let folder: string;
  let installation: Installation;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-shared-'));
    installation = await Installation.start(pathToFileURL(folder).href);
  });
  afterAll(async () => {
    await installation?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('pass events through it, and leave nothing in it', async () => {
    const store = await openObjectStore(readObjectStoreUrl(pathToFileURL(folder).href));
    const { worker } = installation.roles;
    await worker.terminate();
    await installation.accept('a');
    await installation.accept('b', 'small');
    expect(await keysOf(store, 'segments')).toHaveLength(1);
    await worker.start();
    await installation.expectAllOnce();
    await waitFor(
      async () => [...(await keysOf(store, 'segments')), ...(await keysOf(store, 'rows'))].length === 0,
    );
  });

  it('do not mistake an empty folder for it when the share is not mounted', async () => {
    const { api, worker, projector } = installation.roles;
    await worker.terminate();
    await installation.accept('c');
    await rename(folder, `${folder}-away`);
    await mkdir(folder);
    for (const role of ['api', 'projector'] as const) {
      await waitFor(async () => (await installation.readiness(role)).status === 503);
      expect(await installation.readiness(role)).toEqual({ status: 503, objectStore: 'failed' });
    }
    expect(await installation.send('d')).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    await expect(worker.start()).rejects.toThrow(/marks\/store is missing. Is the share mounted\?/);
    await rm(folder, { recursive: true });
    await rename(`${folder}-away`, folder);
    await worker.start();
    for (const service of [api, projector]) {
      await waitFor(async () => (await call(service, 'GET', '/readyz')).status === 200);
    }
    await installation.accept('d');
    await installation.expectAllOnce();
  });

  it('refuse another folder unless it has all objects, and the folder of another installation', async () => {
    const { api, worker } = installation.roles;
    const other = await mkdtemp(join(tmpdir(), 'tollgate-shared-'));
    const elsewhere = { TOLLGATE_OBJECT_STORE_URL: pathToFileURL(other).href };
    await worker.terminate();
    await installation.accept('e');
    await expect(worker.start(elsewhere)).rejects.toThrow(
      `data of this installation are still in the store ${folder}. Use that store`,
    );
    await worker.start();
    await installation.expectAllOnce();
    for (const service of Object.values(installation.roles)) await service.terminate();
    await cp(folder, other, { recursive: true });
    for (const service of Object.values(installation.roles)) await service.start(elsewhere);
    await installation.accept('f');
    await installation.expectAllOnce();
    const verified = await api.runCommand(['verify'], elsewhere);
    expect([verified.exitCode, verified.output]).toEqual([0, expect.stringContaining('Everything is equal')]);
    await api.terminate();
    await writeFile(join(folder, 'marks/store'), 'of another installation');
    await expect(api.start()).rejects.toThrow(`belongs to another store. This installation uses ${other}`);
    await api.start(elsewhere);
    await rm(other, { recursive: true });
  });
});
