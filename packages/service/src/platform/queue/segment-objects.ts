import { randomUUID } from 'node:crypto';
import { isObjectKey, type ObjectKind, type ObjectStore } from '../object-store/index.js';
import { resultWithin } from '../wait.js';
import {
  placesIn,
  SegmentMissingError,
  type SegmentPlace,
  type SegmentStore,
  SegmentWriteError,
} from './outside.js';
import type { PostgresSegmentQueue } from './postgres-queue.js';

/** The folder of segments in an object store. */
const SEGMENTS_FOLDER = 'segments';
/** A put that takes longer counts as failed, because clients wait for it. */
const PUT_MS_MAX = 10_000;
/** Upper bound of the read objects that this process will delete; more are left to `sweepUnusedObjects`. */
const READ_KEYS_MAX = 100_000;
/** Upper bound of the objects for which one query looks. */
const SWEEP_KEYS = 1_000;

/**
 * Stores the large segments of an append as one object, for a database on another machine. An object belongs to one
 * statement: the rows that point at it, one or several, are written once and together. Therefore an object that was
 * read can be deleted as soon as no row points at it.
 */
export class SegmentObjects implements SegmentStore {
  readonly #store: ObjectStore;
  readonly #read = new Set<string>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async put(
    segments: readonly (readonly Buffer[])[],
    point: (places: readonly SegmentPlace[]) => Promise<unknown>,
  ): Promise<void> {
    const fileName = `${SEGMENTS_FOLDER}/${randomUUID()}`;
    try {
      await resultWithin(
        this.#store.put(fileName, segments.flat()),
        PUT_MS_MAX,
        () => new Error(`it took longer than ${PUT_MS_MAX} ms`),
      );
    } catch (cause) {
      throw new SegmentWriteError(fileName, { cause });
    }
    await point(placesIn(fileName, 0, segments));
  }

  async read(place: SegmentPlace): Promise<Buffer> {
    const { fileName } = place;
    // The segment is not damaged, but cannot be reached: it must not be taken off the queue.
    if (!isObjectKey(fileName)) throw new Error(`the segment is in ${fileName}, which is not an object`);
    const bytes = await this.#store.get(fileName, place);
    if (bytes === undefined) throw new SegmentMissingError(fileName);
    if (this.#read.size < READ_KEYS_MAX) this.#read.add(fileName);
    return bytes;
  }

  /** Deletes the objects that this process has read and at which no row points any more. */
  async sweep(pointedAt: (fileNames: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const read = [...this.#read];
    for (let start = 0; start < read.length; start += SWEEP_KEYS) {
      const keys = read.slice(start, start + SWEEP_KEYS);
      const used = await pointedAt(keys);
      const unused = keys.filter((key) => !used.has(key));
      await this.#store.delete(unused);
      for (const key of unused) this.#read.delete(key);
    }
  }

  async close(): Promise<void> {}
}

/** Selects the objects of segments; a crash may leave some of them to which no row points. */
export function segmentObjects(queue: Pick<PostgresSegmentQueue, 'pointedAt' | 'hasOutside'>): ObjectKind {
  return {
    folder: SEGMENTS_FOLDER,
    isInUse: () => queue.hasOutside(`${SEGMENTS_FOLDER}/`),
    pointedAt: (keys) => queue.pointedAt(keys),
  };
}
