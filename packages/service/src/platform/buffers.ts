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

/**
 * Reads from `offset` on until `bytes` is full or the file ends. Returns the part that was read.
 *
 * @throws Error of the file system
 */
export async function readBytes(file: Pick<FileHandle, 'read'>, bytes: Buffer, offset = 0): Promise<Buffer> {
  for (let length = 0; length < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, offset + length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
  }
  return bytes;
}

/** Sizes are rounded up to a multiple of this, so that the memory does not grow again and again. */
const GROWTH_BYTES = 4 * 1_048_576;

/**
 * Memory that one piece of work after the other takes. If each got memory of its own, the garbage collector would stop
 * the thread far more often.
 */
export class ReusedMemory {
  readonly #bytesMax: number;
  #memory = Buffer.alloc(0);
  #takenBytes = 0;

  /** @param bytesMax upper bound of the memory that is kept */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns memory with any content. It is valid until `reset`. */
  take(byteCount: number): Buffer {
    const start = this.#takenBytes;
    this.#takenBytes += byteCount;
    if (this.#takenBytes > this.#memory.length) return Buffer.allocUnsafeSlow(byteCount);
    return this.#memory.subarray(start, this.#takenBytes);
  }

  /** Takes all memory back, which nothing may use any more. If it was too little, it grows up to its bound. */
  reset(): void {
    const wanted = Math.min(Math.ceil(this.#takenBytes / GROWTH_BYTES) * GROWTH_BYTES, this.#bytesMax);
    if (wanted > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(wanted);
    this.#takenBytes = 0;
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
