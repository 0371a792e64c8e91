import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isAnswer } from '../postgres/index.js';
import { syncFolder } from '../sync-folder.js';
import { SegmentFormatError } from './segment.js';

/** A file takes segments until it has this size. */
const FILE_BYTES_MAX = 64 * 1_048_576;
const FILE_NAME = /^[0-9a-f-]{36}\.segments$/;

/** Where in which file a segment is. */
export interface SegmentPlace {
  readonly fileName: string;
  readonly offset: number;
  readonly byteCount: number;
  readonly crc32: number;
}

/** A file that this process writes, or may still point at. */
class GrowingFile {
  readonly name = `${randomUUID()}.segments`;
  readonly handle: Promise<FileHandle>;
  /** Where the next segment begins. */
  end = 0;
  /** Segments that are being put. */
  unsettled = 0;
  /** Whether a row may yet appear that points at it. */
  isInDoubt = false;

  constructor(folder: string) {
    this.handle = createDurably(folder, this.name);
  }
}

/**
 * Keeps large segments in files on the machine of the database, where a commit would write them twice and cut them into thousands of
 * rows. Segments are appended to one file after the other; a file goes when no row of the queue points at it. Requires that
 * one process appends and sweeps, and that whoever claims sees the same folder.
 */
export class SegmentFiles {
  #current: GrowingFile | undefined;
  /** Names of what must not be swept. */
  readonly #kept = new Set<string>();

  private constructor(
    private readonly folder: string,
    private readonly fileBytesMax: number,
  ) {}

  static async open(folder: string, fileBytesMax = FILE_BYTES_MAX): Promise<SegmentFiles> {
    await mkdir(folder, { recursive: true });
    return new SegmentFiles(folder, fileBytesMax);
  }

  /**
   * Has `point` write the row that points at the segment, once the segment is on disk. Throws what `point` throws; unless that
   * is an answer of the database the row may yet appear, and the file stays until the service starts again.
   */
  async put(pieces: readonly Buffer[], point: (place: SegmentPlace) => Promise<unknown>): Promise<void> {
    const byteCount = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const file = this.#fileFor(byteCount);
    const offset = file.end;
    file.end += byteCount;
    file.unsettled += 1;
    try {
      await this.#write(file, offset, pieces, byteCount);
      await point({ fileName: file.name, offset, byteCount, crc32: checksum(pieces) }).catch((error) => {
        file.isInDoubt ||= !isAnswer(error);
        throw error;
      });
    } finally {
      file.unsettled -= 1;
      await this.#letGo(file);
    }
  }

  /** What is there of a segment: nothing when its file is missing. See `checkPlaced`. */
  async read({ fileName, offset, byteCount }: SegmentPlace): Promise<Buffer> {
    if (!FILE_NAME.test(fileName)) return Buffer.of();
    const file = await openIfThere(join(this.folder, fileName));
    if (file === undefined) return Buffer.of();
    try {
      const bytes = Buffer.allocUnsafe(byteCount);
      const { bytesRead } = await file.read(bytes, 0, byteCount, offset);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /**
   * Deletes the files that nothing points at, of earlier runs too. The next segment begins a new file, so that what was rated
   * is on disk no longer than until the sweep after it.
   *
   * @param pointedAt which of these files a row points at, as of now
   */
  async sweep(pointedAt: (fileNames: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    await this.close();
    const names = (await readdir(this.folder)).filter(
      (name) => FILE_NAME.test(name) && !this.#kept.has(name),
    );
    if (names.length === 0) return;
    const used = await pointedAt(names);
    for (const name of names) if (!used.has(name)) await unlink(join(this.folder, name));
  }

  /** Closes the file that grows. */
  async close(): Promise<void> {
    const file = this.#current;
    this.#current = undefined;
    if (file !== undefined) await this.#letGo(file);
  }

  #fileFor(byteCount: number): GrowingFile {
    const current = this.#current;
    if (current !== undefined && current.end + byteCount <= this.fileBytesMax) return current;
    const file = new GrowingFile(this.folder);
    this.#current = file;
    this.#kept.add(file.name);
    if (current !== undefined) void this.#letGo(current);
    return file;
  }

  async #write(
    file: GrowingFile,
    offset: number,
    pieces: readonly Buffer[],
    byteCount: number,
  ): Promise<void> {
    try {
      const handle = await file.handle;
      const { bytesWritten } = await handle.writev(pieces, offset);
      if (bytesWritten !== byteCount) throw new Error(`${bytesWritten} of ${byteCount} bytes were written`);
      await handle.datasync();
    } catch (error) {
      // After a failed sync nobody knows what of a file is on disk: the next segment begins another.
      if (this.#current === file) this.#current = undefined;
      throw error;
    }
  }

  /** Closes a file that takes no more segments, once all of its own are settled, and leaves it to the sweep. Never rejects. */
  async #letGo(file: GrowingFile): Promise<void> {
    if (file === this.#current || file.unsettled > 0) return;
    if (!file.isInDoubt) this.#kept.delete(file.name);
    await file.handle.then((handle) => handle.close()).catch(() => {});
  }
}

/** @throws SegmentFormatError when `bytes` are not those that were put */
export function checkPlaced(
  { fileName, offset, byteCount, crc32: expected }: SegmentPlace,
  bytes: Buffer,
): void {
  if (bytes.length === byteCount && crc32(bytes) === expected) return;
  const there =
    bytes.length === byteCount ? 'it is damaged' : `${bytes.length} of its ${byteCount} bytes are there`;
  throw new SegmentFormatError(`${there}, in ${fileName} from ${offset} on`);
}

function checksum(pieces: readonly Buffer[]): number {
  // Of no bytes, zlib answers where it begins and not where it was.
  return pieces.reduce((sum, piece) => (piece.length === 0 ? sum : crc32(piece, sum)), 0);
}

/** A new file whose entry in its folder is on disk. */
async function createDurably(folder: string, name: string): Promise<FileHandle> {
  const file = await open(join(folder, name), 'wx', 0o600);
  await syncFolder(folder);
  return file;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
