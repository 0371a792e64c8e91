import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readBytes, totalBytes, writeBuffers } from '../buffers.js';
import { isServerError } from '../postgres/index.js';
import { syncFolder } from '../sync-folder.js';
import { resultWithin } from '../wait.js';
import { placesIn, type SegmentPlace, type SegmentStore, SegmentWriteError } from './outside.js';

/** A file takes segments until it reaches this size. */
const FILE_BYTES_MAX = 64 * 1_048_576;
/** A longer write counts as failed. */
const WRITE_TIMEOUT_MS = 10_000;
const FILE_NAME = /^[0-9a-f-]{36}\.segments$/;

/** The methods of a file that appending needs. */
export type AppendableFile = Pick<FileHandle, 'writev' | 'datasync' | 'truncate' | 'close'>;

/** A process that appends to a folder, among all that do at the same time. */
export interface SegmentWriter {
  /** Counted from 0. */
  readonly number: number;
  readonly count: number;
}

const ONLY_WRITER: SegmentWriter = { number: 0, count: 1 };
/** The last digits of a file's name are the number of its writer. */
const WRITER_DIGITS = 2;

export interface SegmentFilesOptions {
  readonly fileBytesMax?: number;
  /** Opens a file that is there, or creates it and makes its entry in the folder durable. */
  readonly open?: (folder: string, name: string, isThere: boolean) => Promise<AppendableFile>;
  /** Default: the only one. */
  readonly writer?: SegmentWriter;
}

/** A file that this process writes to, or to which rows may still point. */
class GrowingFile {
  readonly name: string;
  /** Number of segments that are being put. */
  unsettled = 0;
  /** Whether a row that points at it may still appear. */
  isInDoubt = false;
  /** Whether a write failed or took too long. */
  hasFailed = false;
  #end = 0;
  readonly #file: Promise<AppendableFile>;
  readonly #isReused: boolean;
  /**
   * Stays rejected after the first failure: it is then unknown which bytes are on disk, and the system reports the
   * failure to only one of several concurrent syncs.
   */
  #written: Promise<unknown>;

  /** @param isReused whether the file has bytes from before */
  constructor(name: string, file: Promise<AppendableFile>, isReused: boolean) {
    this.name = name;
    this.#file = file;
    this.#isReused = isReused;
    this.#written = file;
  }

  /** Where the next segment begins. */
  get end(): number {
    return this.#end;
  }

  /** Appends segments; returns where they begin, and a promise that they are on disk. */
  append(pieces: readonly Buffer[], byteCount: number): { offset: number; written: Promise<void> } {
    const offset = this.#end;
    this.#end += byteCount;
    const written = this.#written.then(async () => {
      const file = await this.#file;
      await writeBuffers(file, pieces, offset);
      await file.datasync();
    });
    this.#written = written;
    return { offset, written };
  }

  /** Closes the file, and cuts off the bytes from before behind its last segment. Never rejects. */
  async close(): Promise<void> {
    const close = async (file: AppendableFile) => {
      try {
        if (this.#isReused) await file.truncate(this.#end);
      } finally {
        await file.close();
      }
    };
    await this.#file.then(close).catch(() => {});
  }
}

/**
 * Stores large segments in files on the machine of the database, where a commit would write them twice and cut them
 * into hundreds of rows. Segments are appended to one file after the other. When no row of the queue points at a file,
 * it is deleted or reused. Several processes may append to a folder if each has a number: each sweeps its own
 * files, and those that earlier runs with more of them have left. A process that claims may have another object to
 * read.
 */
export class SegmentFiles implements SegmentStore {
  readonly #folder: string;
  readonly #options: Required<SegmentFilesOptions>;
  #current: GrowingFile | undefined;
  /** Names of files that must not be swept. */
  readonly #kept = new Set<string>();
  /** Names of files that take no more segments, are not in doubt, and of which no write has failed. */
  readonly #intact = new Set<string>();
  /** The name of the file that is reused next, from its start. No row points at it. */
  #spare: string | undefined;

  private constructor(folder: string, options: Required<SegmentFilesOptions>) {
    this.#folder = folder;
    this.#options = options;
  }

  static async open(folder: string, options: SegmentFilesOptions = {}): Promise<SegmentFiles> {
    await mkdir(folder, { recursive: true });
    await syncFolder(dirname(folder));
    const defaults = { fileBytesMax: FILE_BYTES_MAX, open: openDurably, writer: ONLY_WRITER };
    return new SegmentFiles(folder, { ...defaults, ...options });
  }

  /**
   * Writes segments to disk, one after the other in one file with one sync, and then calls `point`, which writes the
   * rows that point at them. Throws the error of `point`. Unless that error comes from the database itself, the rows
   * may still appear, and the file stays until the service starts again.
   *
   * @param segments the pieces of each segment
   * @throws SegmentWriteError with no row written
   */
  async put(
    segments: readonly (readonly Buffer[])[],
    point: (places: readonly SegmentPlace[]) => Promise<unknown>,
  ): Promise<void> {
    const pieces = segments.flat();
    const byteCount = totalBytes(pieces);
    const file = this.#fileFor(byteCount);
    file.unsettled += 1;
    const { offset, written } = file.append(pieces, byteCount);
    try {
      await this.#written(file, written);
      await this.#pointed(file, point(placesIn(file.name, offset, segments)));
    } finally {
      // The file stays open until its last write ends, even when nothing waits for that write any more.
      const settle = () => {
        file.unsettled -= 1;
        return this.#letGo(file);
      };
      void written.then(settle, settle);
    }
  }

  /** Returns the bytes of a segment as far as they exist: none when its file is missing. See `checkPlaced`. */
  async read({ fileName, offset, byteCount }: SegmentPlace): Promise<Buffer> {
    if (!FILE_NAME.test(fileName)) return Buffer.of();
    const file = await openIfThere(join(this.#folder, fileName));
    if (file === undefined) return Buffer.of();
    try {
      return await readBytes(file, Buffer.allocUnsafe(byteCount), offset);
    } finally {
      await file.close();
    }
  }

  /**
   * Deletes the files that no row points at, including those of earlier runs. The next segment starts another file, so
   * that the following sweep can delete the bytes of rated events. While segments come, one file is kept and
   * reused: its blocks are allocated already, so a sync does not wait for the journal of the file system.
   *
   * @param pointedAt returns which of these files rows point at now
   */
  async sweep(pointedAt: (fileNames: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const isBusy = this.#current !== undefined;
    await this.close();
    if (!isBusy) this.#dropSpare();
    const names = (await readdir(this.#folder)).filter(
      (name) => FILE_NAME.test(name) && this.#isOwn(name) && !this.#kept.has(name),
    );
    if (names.length === 0) return;
    const used = await pointedAt(names);
    for (const name of names) {
      if (used.has(name) || this.#kept.has(name)) continue;
      if (isBusy && this.#spare === undefined && this.#intact.has(name)) this.#keepSpare(name);
      else await unlink(join(this.#folder, name));
      this.#intact.delete(name);
    }
  }

  /** Closes the current file. */
  async close(): Promise<void> {
    const file = this.#current;
    this.#current = undefined;
    if (file !== undefined) await this.#letGo(file);
  }

  #fileFor(byteCount: number): GrowingFile {
    const current = this.#current;
    const { fileBytesMax, open, writer } = this.#options;
    if (current !== undefined && current.end + byteCount <= fileBytesMax) return current;
    const spare = this.#spare;
    this.#spare = undefined;
    const name = spare ?? newName(writer);
    const isThere = spare !== undefined;
    const file = new GrowingFile(name, open(this.#folder, name, isThere), isThere);
    this.#current = file;
    this.#kept.add(name);
    if (current !== undefined) void this.#letGo(current);
    return file;
  }

  #keepSpare(name: string): void {
    this.#spare = name;
    this.#kept.add(name);
  }

  #dropSpare(): void {
    if (this.#spare !== undefined) this.#kept.delete(this.#spare);
    this.#spare = undefined;
  }

  #isOwn(name: string): boolean {
    const { number, count } = this.#options.writer;
    return writerOf(name) % count === number;
  }

  async #written(file: GrowingFile, written: Promise<void>): Promise<void> {
    try {
      await resultWithin(
        written,
        WRITE_TIMEOUT_MS,
        () => new Error(`it took longer than ${WRITE_TIMEOUT_MS} ms`),
      );
    } catch (cause) {
      file.hasFailed = true;
      // The next segment starts another file.
      if (this.#current === file) this.#current = undefined;
      throw new SegmentWriteError(file.name, { cause });
    }
  }

  async #pointed(file: GrowingFile, pointed: Promise<unknown>): Promise<void> {
    try {
      await pointed;
    } catch (error) {
      file.isInDoubt ||= !isServerError(error) && !(error instanceof SegmentWriteError);
      throw error;
    }
  }

  /**
   * Closes a file that takes no more segments once none of them is being put, and leaves it to the sweep. Never
   * rejects.
   */
  async #letGo(file: GrowingFile): Promise<void> {
    if (file === this.#current || file.unsettled > 0) return;
    // First, because closing may cut off bytes: nothing may be written to the file again before.
    await file.close();
    if (file.isInDoubt) return;
    this.#kept.delete(file.name);
    if (!file.hasFailed) this.#intact.add(file.name);
  }
}

function newName({ number }: SegmentWriter): string {
  return `${randomUUID().slice(0, -WRITER_DIGITS)}${number.toString(16).padStart(WRITER_DIGITS, '0')}.segments`;
}

function writerOf(name: string): number {
  const [id = ''] = name.split('.');
  return Number.parseInt(id.slice(-WRITER_DIGITS), 16);
}

/** Returns a file whose entry in its folder is on disk. */
async function openDurably(folder: string, name: string, isThere: boolean): Promise<FileHandle> {
  if (isThere) return open(join(folder, name), 'r+');
  const file = await open(join(folder, name), 'wx', 0o600);
  try {
    await syncFolder(folder);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
