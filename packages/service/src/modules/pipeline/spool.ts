import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Buffers, checksum, totalBytes, writeBuffers } from '../../platform/buffers.js';
import { syncFolder } from '../../platform/sync-folder.js';

/** Where the rows of a batch are: exactly one is set, as in `usage_batches`. */
export interface BatchLocation {
  readonly spoolFile: string | null;
  readonly bytes: Buffer | null;
}

/** Keeps the encoded rows of a batch until they are in ClickHouse. */
export interface Spool {
  /** A location for each; durable once the transaction that records them has committed. */
  put(sections: readonly Buffers[]): Promise<BatchLocation[]>;
  /**
   * The rows as they were put.
   * @throws SpoolCorruptError
   */
  read(location: BatchLocation): Promise<Buffer>;
  /** Path of a file that holds exactly the rows; undefined where there is none. */
  path(location: BatchLocation): string | undefined;
  /** Frees what the location holds; free already is fine. */
  remove(location: BatchLocation): Promise<void>;
  /** Locations that exist, whether a batch points at them or not. */
  list(): Promise<string[]>;
}

/** A spooled batch is gone or is not what was written. */
export class SpoolCorruptError extends Error {
  constructor(
    readonly spoolFile: string,
    problem: string,
  ) {
    super(`spool file ${spoolFile}: ${problem}`);
    this.name = 'SpoolCorruptError';
  }
}

/** uuid, size in bytes and CRC-32 of the rows: enough to know a damaged file by its name. */
const FILE_NAME = /^[0-9a-f-]{36}\.(\d+)\.([0-9a-f]{8})\.native$/;

/**
 * A folder on the machine of the database: nine times cheaper than a column. Requires that this process and every
 * other worker and projector of the database see the same folder.
 */
export async function createFileSpool(folder: string): Promise<Spool> {
  await mkdir(folder, { recursive: true });
  return {
    async put(sections) {
      const locations = await Promise.all(sections.map((rows) => writeFile(folder, rows)));
      await syncFolder(folder);
      return locations;
    },
    async read({ spoolFile }) {
      if (spoolFile === null) throw new Error('the batch is not in a file');
      return readVerified(folder, spoolFile);
    },
    path: ({ spoolFile }) => (spoolFile === null ? undefined : join(folder, spoolFile)),
    async remove({ spoolFile }) {
      if (spoolFile === null) return;
      await unlink(join(folder, spoolFile)).catch(ignoreMissing);
    },
    async list() {
      return (await readdir(folder)).filter((name) => FILE_NAME.test(name));
    },
  };
}

/** The rows ride in the database itself: for a database on another machine. */
export function createColumnSpool(): Spool {
  return {
    put: async (sections) => sections.map((rows) => ({ spoolFile: null, bytes: Buffer.concat(rows) })),
    async read({ bytes }) {
      if (bytes === null) throw new Error('the batch is not in the database');
      return bytes;
    },
    path: () => undefined,
    remove: async () => {},
    list: async () => [],
  };
}

/** Size of a spooled batch, as its name tells; 0 for a name that is none of ours. */
export function spoolFileBytes(spoolFile: string): number {
  return Number(FILE_NAME.exec(spoolFile)?.[1] ?? 0);
}

/** Both the bytes and the folder's entry must be on disk before a row points at them. */
async function writeFile(folder: string, rows: Buffers): Promise<BatchLocation> {
  const spoolFile = `${randomUUID()}.${totalBytes(rows)}.${checksumText(rows)}.native`;
  const file = await open(join(folder, spoolFile), 'wx', 0o600);
  try {
    await writeBuffers(file, rows);
    await file.sync();
  } finally {
    await file.close();
  }
  return { spoolFile, bytes: null };
}

async function readVerified(folder: string, name: string): Promise<Buffer> {
  const [, size, sum] = FILE_NAME.exec(name) ?? [];
  if (size === undefined) throw new SpoolCorruptError(name, 'not a name that the spool gives');
  const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new SpoolCorruptError(name, 'the file is missing');
    throw error;
  });
  if (bytes.length !== Number(size))
    throw new SpoolCorruptError(name, `${bytes.length} bytes instead of ${size}`);
  if (checksumText([bytes]) !== sum) throw new SpoolCorruptError(name, 'its checksum does not match');
  return bytes;
}

function checksumText(rows: Buffers): string {
  return checksum(rows).toString(16).padStart(8, '0');
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
