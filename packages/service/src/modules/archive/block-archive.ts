import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';
import { type Buffers, checksumText, totalBytes } from '../../platform/buffers.js';
import type { ObjectStore } from '../../platform/object-store/index.js';

/** The folder of the archive in its object store. */
export const ARCHIVE_FOLDER = 'archive';
/** uuid, size in bytes and CRC-32 of the object: damage is recognized without other records. */
const KEY = /^archive\/[0-9a-f-]{36}\.(\d+)\.([0-9a-f]{8})\.gz$/;
/** Fast: the rows are compressed while they are inserted into ClickHouse. */
const GZIP = { level: 1, chunkSize: 1_048_576 };
const unzip = promisify(gunzip);

/** An object of the archive is missing or damaged. The message is one sentence for the operator. */
export class ArchiveDamagedError extends Error {
  override readonly name = 'ArchiveDamagedError';

  constructor(
    readonly objectKey: string,
    readonly problem: string,
  ) {
    super(`The object ${objectKey} of the archive ${problem}.`);
  }
}

/**
 * Keeps blocks of rows, in the Native format of ClickHouse, as compressed objects. An object is a sequence of gzip
 * members, so that objects are joined without decompressing them.
 */
export class BlockArchive {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Stores rows, and returns the key of the object, which is durable now. */
  async put(rows: Buffers): Promise<string> {
    const zip = createGzip(GZIP);
    const source = Readable.from(rows, { objectMode: false });
    source.on('error', (error) => zip.destroy(error));
    return this.#putObject([await buffer(source.pipe(zip))]);
  }

  /** @throws ArchiveDamagedError */
  async read(key: string): Promise<Buffer> {
    return unzip(await this.#object(key));
  }

  /** Reads an object, and checks that it is undamaged. @throws ArchiveDamagedError */
  async check(key: string): Promise<void> {
    await this.#object(key);
  }

  /** Stores the rows of several objects as one object, and returns its key. @throws ArchiveDamagedError */
  async join(keys: readonly string[]): Promise<string> {
    const members: Buffer[] = [];
    for (const key of keys) members.push(await this.#object(key));
    return this.#putObject(members);
  }

  /** Deletes objects; ignores those that do not exist. */
  remove(keys: readonly string[]): Promise<void> {
    return this.#store.delete(keys);
  }

  async #putObject(pieces: Buffers): Promise<string> {
    const key = `${ARCHIVE_FOLDER}/${randomUUID()}.${totalBytes(pieces)}.${checksumText(pieces)}.gz`;
    await this.#store.put(key, pieces);
    return key;
  }

  async #object(key: string): Promise<Buffer> {
    const [, size, sum] = KEY.exec(key) ?? [];
    if (size === undefined) throw new ArchiveDamagedError(key, 'has a name that no archive gives');
    const bytes = await this.#store.get(key);
    if (bytes === undefined) throw new ArchiveDamagedError(key, 'is missing');
    if (bytes.length !== Number(size))
      throw new ArchiveDamagedError(key, `has ${bytes.length} bytes instead of ${size}`);
    if (checksumText([bytes]) !== sum)
      throw new ArchiveDamagedError(key, 'is damaged: its checksum does not match');
    return bytes;
  }
}
