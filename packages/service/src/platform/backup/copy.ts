import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { writeBuffers } from '../buffers.js';

const COPY_BYTES = 1_048_576;
/** Only the owner may read a backup, or what is restored from it. */
const FILE_MODE = 0o600;

/** The size of a file, and its SHA-256 in hex. */
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Copies a file up to its end at that time, and syncs the copy.
 *
 * @param to must not exist
 * @returns the digest of the copy; undefined, with nothing written, when there is no file
 */
export async function copyFile(from: string, to: string): Promise<FileDigest | undefined> {
  const source = await openIfPresent(from);
  if (source === undefined) return undefined;
  try {
    const target = await open(to, 'wx', FILE_MODE);
    try {
      const digest = await copyBytes(source, target);
      await target.sync();
      return digest;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBytes(source: FileHandle, target: FileHandle): Promise<FileDigest> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (let bytes = 0; ; ) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await writeBuffers(target, [piece], bytes);
    bytes += bytesRead;
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
