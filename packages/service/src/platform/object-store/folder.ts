import { access, constants, mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { compareText } from '../../kernel/compare-text.js';
import { type Buffers, readBytes, writeBuffers } from '../buffers.js';
import { syncFolder } from '../sync-folder.js';
import { resultWithin } from '../wait.js';
import {
  type ByteRange,
  checkObjectKey,
  isObjectKey,
  MARK_KEY,
  OBJECT_OPERATION_MS_MAX,
  OBJECT_PAGE_KEYS,
  type ObjectPage,
  type ObjectSelection,
  type ObjectStore,
  ObjectStoreError,
} from './port.js';

/**
 * Keeps objects as files in a folder that all machines share. If the share is not mounted, there is an empty folder in
 * its place. Therefore, in a folder without the mark of a store, a put fails, and a get does not report an object as
 * missing.
 */
export class FolderObjectStore implements ObjectStore {
  readonly #root: string;
  /** The folders of keys that are known to exist on disk. */
  readonly #folders = new Map<string, Promise<void>>();

  private constructor(root: string) {
    this.#root = root;
  }

  /** @throws ObjectStoreError if the folder does not exist, or cannot be written */
  static async open(root: string): Promise<FolderObjectStore> {
    return timed(`open ${root}`, async () => {
      await access(root, constants.W_OK);
      await syncFolder(root);
      return new FolderObjectStore(root);
    });
  }

  put(key: string, pieces: Buffers): Promise<void> {
    checkObjectKey(key);
    return timed(`put ${key}`, async () => {
      const folder = folderOf(key);
      if (key !== MARK_KEY) await this.#ensureFolder(folder);
      else await this.#createFolder(folder);
      const file = await open(join(this.#root, key), 'wx', 0o600);
      try {
        await writeBuffers(file, pieces);
        await file.sync();
      } finally {
        await file.close();
      }
      await syncFolder(join(this.#root, folder));
    });
  }

  get(key: string, range?: ByteRange): Promise<Buffer | undefined> {
    checkObjectKey(key);
    return timed(`get ${key}`, async () => {
      try {
        return await readRange(join(this.#root, key), range);
      } catch (error) {
        if (!isMissing(error)) throw error;
        await this.#check(key);
        return undefined;
      }
    });
  }

  delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) checkObjectKey(key);
    return timed(`delete ${keys.length} objects`, async () => {
      for (const key of keys) {
        await unlink(join(this.#root, key)).catch((error) => {
          if (!isMissing(error)) throw error;
        });
      }
    });
  }

  list({ folder, beforeMs, after = '' }: ObjectSelection): Promise<ObjectPage> {
    return timed(`list ${folder}`, async () => {
      await this.#check(folder);
      const names = await readdir(join(this.#root, folder)).catch((error) => {
        if (isMissing(error)) return [];
        throw error;
      });
      const all = names.map((name) => `${folder}/${name}`).filter((key) => isObjectKey(key) && key > after);
      const page = all.sort(compareText).slice(0, OBJECT_PAGE_KEYS);
      const keys: string[] = [];
      for (const key of page) if (await this.#isBefore(key, beforeMs)) keys.push(key);
      return { keys, next: all.length > page.length ? page.at(-1) : undefined };
    });
  }

  async close(): Promise<void> {}

  async #isBefore(key: string, beforeMs: number): Promise<boolean> {
    try {
      return (await stat(join(this.#root, key))).mtimeMs < beforeMs;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** @throws Error with the code ENOENT if the mark is missing: then the store itself may be missing */
  async #check(key: string): Promise<void> {
    await stat(key === MARK_KEY ? this.#root : join(this.#root, MARK_KEY));
  }

  /** Creates a folder of keys and makes its entry durable, once. */
  async #ensureFolder(folder: string): Promise<void> {
    let ensured = this.#folders.get(folder);
    if (ensured === undefined) {
      ensured = this.#check(folder).then(() => this.#createFolder(folder));
      this.#folders.set(folder, ensured);
      ensured.catch(() => this.#folders.delete(folder));
    }
    await ensured;
  }

  async #createFolder(folder: string): Promise<void> {
    await mkdir(join(this.#root, folder), { recursive: true, mode: 0o700 });
    await syncFolder(this.#root);
  }
}

function folderOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

async function readRange(path: string, range: ByteRange | undefined): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    if (range === undefined) return await file.readFile();
    return await readBytes(file, Buffer.allocUnsafe(range.byteCount), range.offset);
  } finally {
    await file.close();
  }
}

/** Bounds an operation: a share whose server is unavailable lets calls wait for ever. */
async function timed<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await resultWithin(
      work(),
      OBJECT_OPERATION_MS_MAX,
      () => new Error(`no response within ${OBJECT_OPERATION_MS_MAX} ms`),
    );
  } catch (error) {
    throw new ObjectStoreError(operation, error);
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
