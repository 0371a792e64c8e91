import { randomBytes, randomUUID } from 'node:crypto';
import type { ObjectStore } from './port.js';

/**
 * Objects to which nothing points are deleted at this age. Time-outs are a thousand times shorter, and the clocks of
 * machines differ by less.
 */
export const UNUSED_AGE_MS = 24 * 3_600_000;
/** Where probes are written. */
const PROBE_FOLDER = 'probes';
/** Size of a probe: small enough to cost little, and too large for an index. */
const PROBE_BYTES = 16 * 1_024;

/** A kind of objects, with the queries for those that are in use. */
export interface ObjectKind {
  readonly folder: string;
  /** Returns whether anything points at an object of the kind. */
  readonly isInUse: () => Promise<boolean>;
  /** Returns those of the keys at which something points. */
  readonly pointedAt: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** Objects that were left behind when a process was killed during a probe. */
export const PROBES: ObjectKind = {
  folder: PROBE_FOLDER,
  isInUse: async () => false,
  pointedAt: async () => new Set(),
};

/**
 * Deletes old objects to which nothing points, page by page: those that a crash or a time-out left behind.
 *
 * @returns how many it deleted
 */
export async function sweepUnusedObjects(
  store: ObjectStore,
  { folder, pointedAt }: Pick<ObjectKind, 'folder' | 'pointedAt'>,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  let after: string | undefined;
  do {
    const page = await store.list({ folder, beforeMs: nowMs - UNUSED_AGE_MS, after });
    const used = page.keys.length === 0 ? new Set<string>() : await pointedAt(page.keys);
    const unused = page.keys.filter((key) => !used.has(key));
    await store.delete(unused);
    deleted += unused.length;
    after = page.next;
  } while (after !== undefined && signal?.aborted !== true);
  return deleted;
}

/** Proves that objects can be stored: puts one, and deletes it. @throws ObjectStoreError */
export async function probeObjectStore(store: ObjectStore): Promise<void> {
  const key = `${PROBE_FOLDER}/${randomUUID()}`;
  await store.put(key, [randomBytes(PROBE_BYTES)]);
  await store.delete([key]);
}
