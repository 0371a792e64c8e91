import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFile } from './copy.js';
import { type BackupEntry, BackupError, type BackupOrigin, readEntries, readOrigin } from './manifest.js';

/** A backup whose manifest is complete, and whose files exist with their sizes. */
export class BackupReader {
  readonly #folder: string;
  readonly origin: BackupOrigin;

  private constructor(folder: string, origin: BackupOrigin) {
    this.#folder = folder;
    this.origin = origin;
  }

  /**
   * Reads the manifest, but not yet the files.
   *
   * @throws BackupError if the backup is not complete; it names the file
   */
  static async open(folder: string): Promise<BackupReader> {
    const reader = new BackupReader(folder, await readOrigin(folder));
    for await (const entry of reader.entries()) await reader.#check(entry);
    return reader;
  }

  /** Lists folders and files, in no particular order. */
  entries(): AsyncGenerator<BackupEntry> {
    return readEntries(this.#folder);
  }

  /** Copies a file out of the backup. @throws BackupError if the file is damaged; it names the file */
  async copy({ path, bytes, sha256 }: BackupEntry, to: string): Promise<void> {
    const digest = await copyFile(join(this.#folder, path), to);
    if (digest?.bytes !== bytes || digest?.sha256 !== sha256) throw this.#damaged(path);
  }

  async #check({ path, bytes }: BackupEntry): Promise<void> {
    if (bytes === undefined) return;
    const found = await stat(join(this.#folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (found === undefined) {
      throw new BackupError(`The file ${path} of the backup in ${this.#folder} is missing.`);
    }
    if (found.size !== bytes) throw this.#damaged(path);
  }

  #damaged(path: string): BackupError {
    return new BackupError(`The file ${path} of the backup in ${this.#folder} is damaged.`);
  }
}
