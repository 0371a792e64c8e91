import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { mapAtOnce } from '../../platform/at-once.js';
import {
  type Buffers,
  checksumText,
  checksumTextInSteps,
  ReusedMemory,
  readBytes,
  totalBytes,
  writeBuffers,
} from '../../platform/buffers.js';
import { isObjectKey, type ObjectKind, type ObjectStore } from '../../platform/object-store/index.js';
import { isBackupUnderWay, type Postgres, transaction } from '../../platform/postgres/index.js';
import { syncFolder } from '../../platform/sync-folder.js';
import { type BatchLocation, hasSpoolFiles, referencedSpoolFiles, tryLockSpool } from './batch-store.js';

/** Keeps the encoded rows of a batch until they are in ClickHouse. */
export interface Spool {
  /**
   * Stores sections and returns a location for each; they are durable once the transaction that records the locations
   * has committed.
   */
  put(sections: readonly Buffers[]): Promise<BatchLocation[]>;
  /**
   * Returns the rows as they were put.
   *
   * @param memory for rows that are read from a file; default memory of their own
   * @throws SpoolCorruptError
   */
  read(location: BatchLocation, memory?: Pick<ReusedMemory, 'take'>): Promise<Buffer>;
  /** Returns the path of a file that contains exactly the rows; undefined when there is none. */
  path(location: BatchLocation): string | undefined;
  /** Removes what the location holds; does nothing when it is gone already. */
  remove(location: BatchLocation): Promise<void>;
  /** Returns the files that exist, whether a batch points at them or not; none if another job sweeps them. */
  list(): Promise<string[]>;
}

/** A spooled batch is missing or damaged. */
export class SpoolCorruptError extends Error {
  constructor(
    readonly spoolFile: string,
    readonly problem: string,
  ) {
    super(`spool file ${spoolFile}: ${problem}`);
    this.name = 'SpoolCorruptError';
  }
}

/** Upper bound of the spool files or objects of a group that are open at the same time. */
export const FILES_AT_ONCE = 16;
/** Upper bound of the memory that a reader keeps. Rows that do not fit get memory of their own. */
const KEPT_BYTES_MAX = 32 * 1_048_576;
const OWN_MEMORY = { take: (byteCount: number) => Buffer.allocUnsafeSlow(byteCount) };

/** Reads one group of batches after the other, into the same memory. */
export class SpoolReader {
  readonly #spool: Pick<Spool, 'read'>;
  /** The memory of a group whose rows nothing uses any more. */
  #free: ReusedMemory | undefined;

  constructor(spool: Pick<Spool, 'read'>) {
    this.#spool = spool;
  }

  /**
   * Reads every batch, which checks that it is undamaged. The rows are valid until `release`. Do not call that after an
   * error: something may still use the rows, and the next group gets other memory.
   */
  async read(locations: readonly BatchLocation[]): Promise<{ rows: Buffer[]; release: () => void }> {
    const memory = this.#free ?? new ReusedMemory(KEPT_BYTES_MAX);
    this.#free = undefined;
    const rows = await mapAtOnce(locations, FILES_AT_ONCE, (location) => this.#spool.read(location, memory));
    return {
      rows,
      release: () => {
        memory.reset();
        this.#free = memory;
      },
    };
  }
}

/** The folder of rows in an object store. */
const ROWS_FOLDER = 'rows';
/** uuid, size in bytes and CRC-32 of the rows: damage to a file or an object is recognized without other records. */
const FILE_NAME = /^(?:rows\/)?[0-9a-f-]{36}\.(\d+)\.([0-9a-f]{8})\.native$/;

/**
 * A spool in a folder on the machine of the database, which costs a ninth of a column. This process and every other
 * worker and projector of the database must see the same folder.
 */
export async function createFileSpool(folder: string): Promise<Spool> {
  await mkdir(folder, { recursive: true });
  return {
    async put(sections) {
      const locations = await Promise.all(sections.map((rows) => writeFile(folder, rows)));
      await syncFolder(folder);
      return locations;
    },
    async read({ spoolFile }, memory = OWN_MEMORY) {
      if (spoolFile === null) throw new Error('the batch is not in a file');
      return readVerified(folder, spoolFile, memory);
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

/** A spool that keeps the rows in the database itself, for a database on another machine. */
export function createColumnSpool(): Spool {
  return {
    put: async (sections) => sections.map((rows) => ({ spoolFile: null, bytes: Buffer.concat(rows) })),
    async read({ spoolFile, bytes }) {
      if (bytes === null) throw new Error(`the batch is in ${spoolFile}, and not in the database`);
      return bytes;
    },
    path: () => undefined,
    remove: async () => {},
    list: async () => [],
  };
}

/** A spool in an object store, for a database on another machine. It can also read rows that are in the database. */
export function createObjectSpool(store: ObjectStore): Spool {
  return {
    put: (sections) =>
      Promise.all(
        sections.map(async (rows) => {
          const spoolFile = `${ROWS_FOLDER}/${nameOf(rows)}`;
          await store.put(spoolFile, rows);
          return { spoolFile, bytes: null };
        }),
      ),
    async read({ spoolFile, bytes }) {
      if (bytes !== null) return bytes;
      // The rows are not damaged; this process cannot reach them.
      if (spoolFile === null || !isObjectKey(spoolFile)) {
        throw new Error(`the batch is in ${spoolFile}, which is not an object`);
      }
      return verified(spoolFile, await store.get(spoolFile));
    },
    path: () => undefined,
    async remove({ spoolFile }) {
      if (spoolFile !== null) await store.delete([spoolFile]);
    },
    list: async () => [],
  };
}

/** Time after which a sweep is tried again if a running batch prevented it. */
const SWEEP_RETRY_MS = 1_000;
/** Time after which the spool is swept again without a failure: a backup leaves files to which no row points. */
const SWEEP_INTERVAL_MS = 600_000;

interface SpoolSweepDeps {
  readonly postgres: Postgres;
  readonly spool: Spool;
  readonly observer: { batchFailed(error: unknown): void };
}

/**
 * Sweeps the spool of a worker at the start, after a failed batch, whose transaction may have left a file to which no
 * row points, and now and then.
 */
export class SpoolSweeps {
  readonly #deps: SpoolSweepDeps;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(deps: SpoolSweepDeps) {
    this.#deps = deps;
  }

  /** Sweeps if it is time; never rejects. */
  async sweepIfDue(): Promise<void> {
    if (performance.now() >= this.#dueMs) await this.sweepNow();
  }

  /** Sweeps now, or in a later round if that is not possible; never rejects. */
  async sweepNow(): Promise<void> {
    const { postgres, spool, observer } = this.#deps;
    this.#dueMs = performance.now() + SWEEP_RETRY_MS;
    try {
      if (await sweepSpool(postgres, spool)) this.#dueMs = performance.now() + SWEEP_INTERVAL_MS;
    } catch (error) {
      observer.batchFailed(error);
    }
  }
}

/** Selects the objects of rows; a crash may leave some of them to which no batch points. */
export function spooledObjects(postgres: Postgres): ObjectKind {
  return {
    folder: ROWS_FOLDER,
    isInUse: () => transaction(postgres, (tx) => hasSpoolFiles(tx, `${ROWS_FOLDER}/`)),
    pointedAt: (keys) => transaction(postgres, (tx) => referencedSpoolFiles(tx, keys)),
  };
}

/** Returns the size of a spooled batch, which is part of its name; 0 for other names. */
export function spoolFileBytes(spoolFile: string): number {
  return Number(FILE_NAME.exec(spoolFile)?.[1] ?? 0);
}

/** Both the bytes and the folder's entry must be on disk before a row points at them. */
async function writeFile(folder: string, rows: Buffers): Promise<BatchLocation> {
  const spoolFile = nameOf(rows);
  const file = await open(join(folder, spoolFile), 'wx', 0o600);
  try {
    await writeBuffers(file, rows);
    await file.sync();
  } finally {
    await file.close();
  }
  return { spoolFile, bytes: null };
}

async function readVerified(
  folder: string,
  name: string,
  memory: Pick<ReusedMemory, 'take'>,
): Promise<Buffer> {
  if (!FILE_NAME.test(name) || isObjectKey(name))
    throw new SpoolCorruptError(name, 'not a file name of the spool');
  const file = await open(join(folder, name)).catch(ignoreMissing);
  if (file === undefined) return verified(name, undefined);
  try {
    const { size } = await file.stat();
    checkSize(name, size);
    return await verified(name, await readBytes(file, memory.take(size)));
  } finally {
    await file.close();
  }
}

/** @throws SpoolCorruptError if these are not the rows that were stored under this name */
async function verified(name: string, bytes: Buffer | undefined): Promise<Buffer> {
  const [, , sum] = FILE_NAME.exec(name) ?? [];
  if (sum === undefined) throw new SpoolCorruptError(name, 'not a file name of the spool');
  if (bytes === undefined) throw new SpoolCorruptError(name, 'is missing');
  checkSize(name, bytes.length);
  if ((await checksumTextInSteps(bytes)) !== sum)
    throw new SpoolCorruptError(name, 'its checksum does not match');
  return bytes;
}

/** @throws SpoolCorruptError unless a spooled batch has the size in its name */
function checkSize(name: string, byteCount: number): void {
  const expected = spoolFileBytes(name);
  if (byteCount !== expected) throw new SpoolCorruptError(name, `${byteCount} bytes instead of ${expected}`);
}

function nameOf(rows: Buffers): string {
  return `${randomUUID()}.${totalBytes(rows)}.${checksumText(rows)}.native`;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Removes spooled rows that no batch points at: a crash leaves them between writing a file and committing, or between
 * deleting a batch and its file. Safe at any time and with any number of workers, because it does nothing while a batch
 * may have a file and no row yet, and nothing while a backup is under way.
 *
 * @returns false when such a batch or a backup prevented it: sweep again later
 */
export async function sweepSpool(postgres: Postgres, spool: Spool): Promise<boolean> {
  return transaction(postgres, async (tx) => {
    if (!(await tryLockSpool(tx))) return false;
    const files = await spool.list();
    if (files.length === 0) return true;
    const referenced = await referencedSpoolFiles(tx, files);
    if (await isBackupUnderWay(postgres)) return false;
    for (const spoolFile of files) {
      if (!referenced.has(spoolFile)) await spool.remove({ spoolFile, bytes: null });
    }
    return true;
  });
}
