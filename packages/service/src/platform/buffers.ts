import type { FileHandle } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

/** Consecutive bytes, in the pieces in which they were made. */
export type Buffers = readonly Buffer[];

/** Bytes that are summed up in a fraction of a millisecond. */
const CHECKSUM_STEP_BYTES = 256 * 1_024;

export function totalBytes(buffers: Buffers): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}

/** CRC-32 of all the bytes. */
export function checksum(buffers: Buffers): number {
  // For an empty buffer zlib returns 0, and not the sum so far.
  return buffers.reduce((sum, buffer) => (buffer.length === 0 ? sum : crc32(buffer, sum)), 0);
}

/** CRC-32 of all the bytes, as eight hexadecimal digits. */
export function checksumText(buffers: Buffers): string {
  return textOf(checksum(buffers));
}

/** As `checksumText`, in steps: requests are served between two of them. */
export async function checksumTextInSteps(bytes: Buffer): Promise<string> {
  let sum = checksum([bytes.subarray(0, CHECKSUM_STEP_BYTES)]);
  for (let at = CHECKSUM_STEP_BYTES; at < bytes.length; at += CHECKSUM_STEP_BYTES) {
    await nextTurn();
    sum = crc32(bytes.subarray(at, at + CHECKSUM_STEP_BYTES), sum);
  }
  return textOf(sum);
}

function textOf(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}

/**
 * Writes all buffers, from `offset` on. After a short write the rest is written; the cause of the short write, such as
 * a full disk, then throws.
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

/** Returns the part after the first `bytes`. */
function behind(buffers: Buffers, bytes: number): Buffer[] {
  let skipped = bytes;
  const rest: Buffer[] = [];
  for (const buffer of buffers) {
    if (buffer.length > skipped) rest.push(buffer.subarray(skipped));
    skipped = Math.max(0, skipped - buffer.length);
  }
  return rest;
}
