import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from './byte-writer.js';

function written(write: (writer: ByteWriter) => void): Buffer {
  const writer = new ByteWriter(1);
  write(writer);
  return Buffer.from(writer.bytes());
}

describe('ByteWriter', () => {
  it.each<[string, (writer: ByteWriter) => void, string]>([
    ['a byte', (w) => w.uint8(255), 'ff'],
    ['UInt16', (w) => w.uint16(0x0102), '0201'],
    ['UInt32', (w) => w.uint32(0xfffefdfc), 'fcfdfeff'],
    ['Int64', (w) => w.int64(0x0102030405), '0504030201000000'],
    ['a negative Int64', (w) => w.int64(-2), 'feffffffffffffff'],
    ['a short length', (w) => w.varint(127), '7f'],
    ['a longer length', (w) => w.varint(300), 'ac02'],
    ['the longest length', (w) => w.varint(0x7fff_ffff), 'ffffffff07'],
    ['a decimal', (w) => w.decimal128(258n), `0201${'00'.repeat(14)}`],
    ['a negative decimal', (w) => w.decimal128(-2n), `fe${'ff'.repeat(15)}`],
    [
      'a decimal of more than 64 bits',
      (w) => w.decimal128(2n ** 64n + 5n),
      `0500000000000000${'01'}${'00'.repeat(7)}`,
    ],
    ['a string', (w) => w.string('a\0b'), '03610062'],
    ['a string that is not ASCII', (w) => w.string('é'), '02c3a9'],
    ['a lone surrogate', (w) => w.string('\ud800'), '03efbfbd'],
    ['bytes', (w) => w.stringBytes(Buffer.from([1, 0xff])), '0201ff'],
  ])('writes %s', (_, write, hex) => {
    expect(written(write).toString('hex')).toBe(hex);
  });

  it('writes every decimal as its two’s complement', () => {
    const bound = 10n ** 38n - 1n;
    fc.assert(
      fc.property(fc.bigInt({ min: -bound, max: bound }), (value) => {
        const bytes = written((writer) => writer.decimal128(value)).toReversed();
        expect(BigInt.asIntN(128, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))).toBe(value);
      }),
    );
  });

  it('writes every text as length and UTF-8, however far it has grown', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200 })), (texts) => {
        const bytes = written((writer) => {
          for (const text of texts) writer.string(text);
        });
        let at = 0;
        for (const text of texts) {
          const utf8 = Buffer.from(text);
          at += utf8.length > 127 ? 2 : 1;
          expect(bytes.subarray(at, at + utf8.length)).toEqual(utf8);
          at += utf8.length;
        }
        expect(at).toBe(bytes.length);
      }),
    );
  });

  it('keeps its memory while it is used, and no longer', () => {
    const writer = new ByteWriter();
    const memoryAfter = (bytes: number) => {
      writer.clear();
      for (let written = 0; written < bytes; written += 1_000) writer.fixedString(Buffer.alloc(1_000));
      return writer.bytes().buffer.byteLength;
    };
    const large = memoryAfter(1_000_000);
    expect(large).toBeGreaterThanOrEqual(1_000_000);
    expect(memoryAfter(large / 8)).toBe(large);
    // Kept when the last use was large enough, and released when it was not.
    expect(memoryAfter(1_000)).toBe(large);
    // A small buffer is a part of Node's pool, whose size depends on the version.
    expect(memoryAfter(1_000)).toBeLessThan(large / 2);
  });

  it('starts over', () => {
    const writer = new ByteWriter();
    writer.string('dropped');
    writer.clear();
    expect(writer.length).toBe(0);
    writer.uint8(7);
    expect(writer.bytes().toString('hex')).toBe('07');
  });
});
