import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  checksum,
  checksumText,
  checksumTextInSteps,
  ReusedMemory,
  readBytes,
  totalBytes,
  writeBuffers,
} from './buffers.js';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-buffers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const buffers = fc
  .array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 })
  .map((all) => all.map((bytes) => Buffer.from(bytes)));

/** Accepts at most `most` bytes at a time, and fails after `failsAfter` calls. */
function slow(most: number, failsAfter = Number.POSITIVE_INFINITY) {
  const taken: Buffer[] = [];
  return {
    bytes: () => Buffer.concat(taken),
    writev: async (pieces: readonly Buffer[], at: number) => {
      expect(at).toBe(100 + totalBytes(taken));
      if (totalBytes(taken) >= failsAfter) throw new Error('no space left');
      const part = Buffer.concat(pieces).subarray(0, most);
      taken.push(part);
      return { bytesWritten: part.length, buffers: pieces };
    },
  };
}
const written = (file: ReturnType<typeof slow>, pieces: readonly Buffer[]) =>
  writeBuffers(file as never, pieces, 100);

describe('bytes in pieces', () => {
  it('are summed as if they were one, empty ones included', () => {
    fc.assert(
      fc.property(buffers, (pieces) => {
        const whole = Buffer.concat(pieces);
        expect(totalBytes(pieces)).toBe(whole.length);
        expect(checksum(pieces)).toBe(whole.length === 0 ? 0 : crc32(whole));
      }),
    );
    expect(checksum([Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')])).toBe(crc32('ab'));
  });

  it.each([0, 1, 262_144, 262_145, 1_000_000])('are summed in steps as at once: %i bytes', async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, at) => at % 251));
    expect(await checksumTextInSteps(bytes)).toBe(checksumText([bytes]));
  });

  it('let others run between the steps of a sum', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await checksumTextInSteps(Buffer.alloc(2_000_000));
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(7);
  });

  it('are written to a file, from its beginning or from an offset on', async () => {
    const file = await open(join(folder, 'all'), 'wx');
    await writeBuffers(file, [Buffer.from('ab'), Buffer.alloc(0), Buffer.from('c')]);
    await writeBuffers(file, [Buffer.from('de')], 3);
    await writeBuffers(file, []);
    await file.close();
    expect(readFileSync(join(folder, 'all'), 'utf8')).toBe('abcde');
  });

  it('are written whole, however little is taken at once', async () => {
    await fc.assert(
      fc.asyncProperty(buffers, fc.integer({ min: 1, max: 30 }), async (pieces, most) => {
        const file = slow(most);
        await written(file, pieces);
        expect(file.bytes()).toEqual(Buffer.concat(pieces));
      }),
    );
  });

  it('are read from an offset on until the memory is full or the file ends, however little comes at once', async () => {
    const content = Buffer.from('abcdefghij');
    const read = (most: number) => async (into: Buffer, at: number, length: number, from: number) => ({
      bytesRead: content.copy(into, at, from, Math.min(from + length, from + most)),
      buffer: into,
    });
    for (const most of [1, 3, 10]) {
      const file = { read: read(most) } as never;
      expect((await readBytes(file, Buffer.alloc(4), 3)).toString()).toBe('defg');
      expect((await readBytes(file, Buffer.alloc(4), 8)).toString()).toBe('ij');
      expect(await readBytes(file, Buffer.alloc(0))).toEqual(Buffer.of());
    }
  });

  it('report what stops them in the middle', async () => {
    await expect(written(slow(2, 4), [Buffer.from('abcdef')])).rejects.toThrow('no space left');
    await expect(written(slow(0), [Buffer.from('abcdef')])).rejects.toThrow('nothing was written of 6 bytes');
  });
});

describe('memory that is used again', () => {
  const MIB = 1_048_576;

  it('is never given out twice at a time', () => {
    const sizes = fc.array(fc.array(fc.nat({ max: 3 * MIB }), { maxLength: 6 }), { maxLength: 6 });
    fc.assert(
      fc.property(sizes, (works) => {
        const memory = new ReusedMemory(8 * MIB);
        for (const work of works) {
          const taken = work.map((size, index) => memory.take(size).fill(index + 1));
          for (const [index, bytes] of taken.entries()) {
            expect(bytes.length).toBe(work[index]);
            expect(bytes.equals(Buffer.alloc(bytes.length, index + 1))).toBe(true);
          }
          memory.reset();
        }
      }),
      { numRuns: 20 },
    );
  });

  it('is the same for the next work, once it has grown to what was taken', () => {
    const memory = new ReusedMemory(8 * MIB);
    // The memory behind each piece: numbered, because a failed comparison would print megabytes.
    const known: ArrayBufferLike[] = [];
    const take = (...sizes: number[]) =>
      sizes.map((size) => {
        const { buffer } = memory.take(size);
        return (known.includes(buffer) ? known.indexOf(buffer) : known.push(buffer) - 1) as number;
      });
    expect(take(2 * MIB, MIB)).toEqual([0, 1]);
    memory.reset();
    expect(take(2 * MIB, MIB)).toEqual([2, 2]);
    memory.reset();
    expect(take(MIB, 3 * MIB)).toEqual([2, 2]);
    expect(take(MIB)).toEqual([3]);
  });

  it('is not kept beyond its bound', () => {
    const memory = new ReusedMemory(MIB);
    memory.take(5 * MIB);
    memory.reset();
    expect(memory.take(5 * MIB).buffer.byteLength).toBe(5 * MIB);
    memory.reset();
    expect(memory.take(10).buffer.byteLength).toBe(MIB);
  });
});
