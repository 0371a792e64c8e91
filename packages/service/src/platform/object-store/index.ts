import { mkdir } from 'node:fs/promises';
import { FolderObjectStore } from './folder.js';
import type { ObjectStoreLocation } from './location.js';
import { MARK_KEY, type ObjectStore } from './port.js';

export {
  describeObjectStore,
  type ObjectStoreLocation,
  readObjectStoreUrl,
  S3_SOCKETS_MAX,
} from './location.js';
export { checkObjectStore, claimObjectStore } from './mark-store.js';
export { isObjectKey, MARK_KEY, type ObjectStore, ObjectStoreError } from './port.js';
export { type ObjectKind, PROBES, probeObjectStore, sweepUnusedObjects, UNUSED_AGE_MS } from './sweep.js';

/** Opens a store. @throws ObjectStoreError if a folder does not exist or cannot be written */
export async function openObjectStore(location: ObjectStoreLocation): Promise<ObjectStore> {
  if (location.kind === 'folder') return FolderObjectStore.open(location.folder);
  // The client is loaded only if it is used, because it is as large as all other libraries together.
  const { S3ObjectStore } = await import('./s3.js');
  return new S3ObjectStore(location);
}

/** Opens the folder of an installation on one machine. It is created if needed, and no other installation uses it. */
export async function openOwnFolder(folder: string): Promise<ObjectStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = await FolderObjectStore.open(folder);
  if ((await store.get(MARK_KEY)) === undefined) await store.put(MARK_KEY, [Buffer.from('own')]);
  return store;
}
