import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** Bytes that stand one behind the other, in as many pieces as they were made in. */
export type Buffers = readonly Buffer[];

export function totalBytes(buffers: Buffers): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}

/** CRC-32 of all the bytes. */
export function checksum(buffers: Buffers): number {
  // For an empty buffer zlib returns 0, and not the sum so far.
  return buffers.reduce((sum, buffer) => (buffer.length === 0 ? sum : crc32(buffer, sum)), 0);
}

/**
 * Writes all of them, from `offset` on. A short write is gone on with: what cut it short, such as a full
 * disk, says so then.
 *
 * @throws Error of the file system
 */
export async function writeBuffers(
  file: Pick<FileHandle, 'writev'>,
  buffers: Buffers,
  offset = 0,
): Promise<void> {
  let rest = buffers.filter(({ length }) => length > 0);
  for (let at = offset; rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest, at);
    if (bytesWritten === 0) throw new Error(`nothing was written of ${totalBytes(rest)} bytes`);
    at += bytesWritten;
    rest = behind(rest, bytesWritten);
  }
}

/** The part after the first `bytes`. */
function behind(buffers: Buffers, bytes: number): Buffer[] {
  let skipped = bytes;
  const rest: Buffer[] = [];
  for (const buffer of buffers) {
    if (buffer.length > skipped) rest.push(buffer.subarray(skipped));
    skipped = Math.max(0, skipped - buffer.length);
  }
  return rest;
}
