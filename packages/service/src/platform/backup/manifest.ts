import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The list of everything in a backup. It is written last, so a backup without it is not complete. */
export const MANIFEST_NAME = 'manifest';
const FORMAT = 1;

/** A backup that cannot be used, or cannot be written; the message is one sentence for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** The first line of a manifest. */
export interface BackupOrigin {
  /** Version of Tollgate that made the backup. */
  readonly release: string;
  /** Major version of its PostgreSQL. */
  readonly postgres: string;
  /** When the backup was begun, in ISO 8601. */
  readonly begun_at: string;
}

/** A line of a manifest: a file, or a folder if it has no size. Paths are relative to the folder of the backup. */
export interface BackupEntry {
  readonly path: string;
  readonly bytes?: number;
  readonly sha256?: string;
}

/** The last line of a manifest: it proves that no line is missing or changed. */
interface ManifestEnd {
  readonly entries: number;
  /** SHA-256 of all lines before, in hex. */
  readonly lines_sha256: string;
}

/** Makes the lines of a manifest, one after the other. */
export class ManifestLines {
  readonly #hash = createHash('sha256');
  #entries = 0;

  first(origin: BackupOrigin): string {
    return this.#add({ format: FORMAT, ...origin });
  }

  entry(entry: BackupEntry): string {
    this.#entries += 1;
    return this.#add(entry);
  }

  last(): string {
    const end: ManifestEnd = { entries: this.#entries, lines_sha256: this.#hash.digest('hex') };
    return `${JSON.stringify(end)}\n`;
  }

  #add(value: object): string {
    const line = `${JSON.stringify(value)}\n`;
    this.#hash.update(line);
    return line;
  }
}

/**
 * Reads the first line of the manifest of a backup, and checks that all lines are as they were written.
 *
 * @throws BackupError if the manifest is missing, damaged, or of another format
 */
export async function readOrigin(folder: string): Promise<BackupOrigin> {
  const hash = createHash('sha256');
  let first: string | undefined;
  let last: string | undefined;
  let lines = 0;
  for await (const line of linesOf(folder)) {
    if (last !== undefined) hash.update(`${last}\n`);
    first ??= line;
    last = line;
    lines += 1;
  }
  const { format, ...origin } = parse<BackupOrigin & { format: number }>(folder, first);
  const end = parse<ManifestEnd>(folder, last);
  if (end.entries !== lines - 2 || end.lines_sha256 !== hash.digest('hex')) throw damaged(folder);
  if (format !== FORMAT) {
    throw new BackupError(
      `The backup in ${folder} has the format ${format}, but this release reads format ${FORMAT}.`,
    );
  }
  return origin;
}

/** Reads the entries of a manifest that `readOrigin` has checked, in the order in which they were written. */
export async function* readEntries(folder: string): AsyncGenerator<BackupEntry> {
  let isFirst = true;
  for await (const line of linesOf(folder)) {
    const entry = parse<Partial<BackupEntry>>(folder, line);
    if (entry.path !== undefined) yield checkedPath(folder, { ...entry, path: entry.path });
    else if (!isFirst) return;
    isFirst = false;
  }
}

/** A path must not lead out of the folder to which it is restored. */
function checkedPath(folder: string, entry: BackupEntry): BackupEntry {
  const isInside = entry.path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isInside) throw damaged(folder);
  return entry;
}

async function* linesOf(folder: string): AsyncGenerator<string> {
  const input = createReadStream(join(folder, MANIFEST_NAME), 'utf8');
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new BackupError(
      `There is no complete backup in ${folder}: it has no manifest, which is written last.`,
    );
  }
}

function parse<T>(folder: string, line: string | undefined): T {
  try {
    return JSON.parse(line ?? '') as T;
  } catch {
    throw damaged(folder);
  }
}

function damaged(folder: string): BackupError {
  return new BackupError(`The manifest of the backup in ${folder} is damaged.`);
}
