import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { forEachAtOnce } from '../at-once.js';
import { makeFolder } from '../make-folder.js';
import { syncFolder } from '../sync-folder.js';
import { copyFile } from './copy.js';
import { BackupError, type BackupOrigin, MANIFEST_NAME, ManifestLines } from './manifest.js';

/** Only the owner may enter a backup: it contains secrets. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Copies that wait for the disk at the same time share its syncs. */
export const COPIES_AT_ONCE = 8;

/**
 * Writes a backup: files and folders, and at the end the manifest. Each file is synced, and the manifest gets its name
 * when everything before it is on disk, so that an interrupted backup has none.
 */
export class BackupWriter {
  readonly folder: string;
  readonly #manifest: FileHandle;
  readonly #lines = new ManifestLines();
  readonly #folders = new Set<string>();
  #written: Promise<void> = Promise.resolve();
  readonly #onCopied: (bytes: number) => void;
  /** The files so far, and their bytes. */
  files = 0;
  bytes = 0;

  private constructor(folder: string, manifest: FileHandle, onCopied: (bytes: number) => void) {
    this.folder = folder;
    this.#manifest = manifest;
    this.#onCopied = onCopied;
  }

  /**
   * @param onCopied called after each file with the bytes so far
   * @throws BackupError if the folder is not empty; an error of the file system if it cannot be created
   */
  static async create(
    folder: string,
    origin: BackupOrigin,
    onCopied: (bytes: number) => void,
  ): Promise<BackupWriter> {
    makeFolder(folder, FOLDER_MODE);
    if ((await readdir(folder)).length > 0) {
      throw new BackupError(`${folder} is not empty: name an empty folder, or one that does not exist.`);
    }
    const manifest = await open(join(folder, unfinished(MANIFEST_NAME)), 'wx', FILE_MODE);
    const writer = new BackupWriter(folder, manifest, onCopied);
    await writer.#append(writer.#lines.first(origin));
    return writer;
  }

  /** Adds an empty folder. */
  async addFolder(path: string): Promise<void> {
    await this.#makeFolder(path);
    await this.#append(this.#lines.entry({ path }));
  }

  /** Adds a copy of a file. Returns false if there is no such file. */
  async addFile(path: string, source: string): Promise<boolean> {
    await this.#makeFolder(dirname(path));
    const digest = await copyFile(source, join(this.folder, path));
    if (digest === undefined) return false;
    await this.#addDigest(path, digest);
    return true;
  }

  /** Adds copies of all files of a folder, but not of the folders in it. */
  async addFilesOf(path: string, source: string): Promise<void> {
    await this.addFolder(path);
    await forEachAtOnce(await opendir(source), COPIES_AT_ONCE, async (entry) => {
      if (entry.isFile()) await this.addFile(`${path}/${entry.name}`, join(source, entry.name));
    });
  }

  /** Adds a file with this text. */
  async addText(path: string, text: string): Promise<void> {
    await this.#makeFolder(dirname(path));
    await writeFile(join(this.folder, path), text, { mode: FILE_MODE, flag: 'wx', flush: true });
    const sha256 = createHash('sha256').update(text).digest('hex');
    await this.#addDigest(path, { bytes: Buffer.byteLength(text), sha256 });
  }

  /** Makes the backup complete. */
  async finish(): Promise<void> {
    await this.#append(this.#lines.last());
    await this.#manifest.sync();
    for (const path of [...this.#folders].reverse()) await syncFolder(join(this.folder, path));
    await syncFolder(this.folder);
    await syncFolder(dirname(this.folder));
    await rename(join(this.folder, unfinished(MANIFEST_NAME)), join(this.folder, MANIFEST_NAME));
    await syncFolder(this.folder);
  }

  async close(): Promise<void> {
    await this.#manifest.close();
  }

  async #addDigest(path: string, digest: { readonly bytes: number; readonly sha256: string }): Promise<void> {
    await this.#append(this.#lines.entry({ path, ...digest }));
    this.files += 1;
    this.bytes += digest.bytes;
    this.#onCopied(this.bytes);
  }

  /** Writes lines in the order of the calls, because their checksum depends on it. */
  #append(line: string): Promise<void> {
    this.#written = this.#written.then(() => this.#manifest.appendFile(line));
    return this.#written;
  }

  async #makeFolder(path: string): Promise<void> {
    if (path === '.' || this.#folders.has(path)) return;
    await mkdir(join(this.folder, path), { recursive: true, mode: FOLDER_MODE });
    for (let folder = path; folder !== '.'; folder = dirname(folder)) this.#folders.add(folder);
  }
}

function unfinished(name: string): string {
  return `${name}.partial`;
}
