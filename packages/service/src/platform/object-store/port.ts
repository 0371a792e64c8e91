import type { Buffers } from '../buffers.js';
import { tlsProblem } from '../connection-problem.js';

/** An operation that takes longer, including its retries, fails. */
export const OBJECT_OPERATION_MS_MAX = 30_000;
/** Upper bound of the keys in one page of a list. */
export const OBJECT_PAGE_KEYS = 1_000;

/** A folder and a name in it. It cannot lead out of the store, and every file system can name it. */
const KEY = /^[a-z]{1,20}\/[0-9a-z][0-9a-z.-]{0,199}$/;

/** The object that proves that a store belongs to this installation. It exists before any other object. */
export const MARK_KEY = 'marks/store';

/** A part of an object. */
export interface ByteRange {
  readonly offset: number;
  readonly byteCount: number;
}

/** Selects objects by the folder of their keys and by their age. */
export interface ObjectSelection {
  readonly folder: string;
  /** Only objects that were last changed before this time, by the clock of the store. */
  readonly beforeMs: number;
  /** Only keys after this one. */
  readonly after?: string | undefined;
}

/** At most `OBJECT_PAGE_KEYS` objects of a list. */
export interface ObjectPage {
  /** In ascending order. */
  readonly keys: readonly string[];
  /** The key after which the list continues; undefined at its end. */
  readonly next: string | undefined;
}

/**
 * Stores objects that every process of an installation reaches. An object is put once, never changed, and deleted when
 * nothing points at it. All methods reject with `ObjectStoreError` if the store cannot do an operation.
 */
export interface ObjectStore {
  /**
   * Stores an object, which is durable once this resolves. After a rejection the object may exist, at once or later.
   */
  put(key: string, pieces: Buffers): Promise<void>;
  /** Returns the bytes of the range as far as the object has them; undefined if there is no such object. */
  get(key: string, range?: ByteRange): Promise<Buffer | undefined>;
  /** Deletes objects; ignores those that do not exist. */
  delete(keys: readonly string[]): Promise<void>;
  /** Returns one page. A page with few keys, or none, need not be the last one. */
  list(selection: ObjectSelection): Promise<ObjectPage>;
  close(): Promise<void>;
}

/** The store could not be reached, or refused an operation. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
  /** A code of the operating system, such as `ENOSPC`, or the name of the store's error. */
  readonly code: string | undefined;

  /**
   * @param operation such as `put rows/1`
   * @param cause its message is used, but it is not kept: errors of an S3 client contain parts of the credentials
   */
  constructor(operation: string, cause: unknown) {
    const { code, name, message } = cause as { code?: unknown; name?: string; message?: string };
    super(`the object store could not ${operation}: ${tlsProblem(cause) ?? message ?? String(cause)}`);
    this.code = typeof code === 'string' ? code : name;
  }
}

/** Returns whether the text is a key of an object, so that it cannot lead out of the store. */
export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** @throws RangeError if the text is not a key of an object */
export function checkObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new RangeError(`not a key of an object: ${key}`);
}
