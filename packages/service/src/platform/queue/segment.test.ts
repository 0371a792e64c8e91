import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeSegment,
  EVENT_ID_BYTES,
  encodeSegment,
  recordBytes,
  SegmentFormatError,
  type SegmentRecord,
  type SegmentScope,
  segmentPieces,
} from './segment.js';

const scopes: fc.Arbitrary<SegmentScope> = fc.record({
  kind: fc.constantFrom('single', 'batch', 'reprocess'),
  tenantId: fc.string({ unit: 'binary', maxLength: 12 }),
  projectId: fc.string({ unit: 'binary', maxLength: 12 }),
  projectNo: fc.integer({ min: 1 }),
  storage: fc.constantFrom('shared', 'dedicated'),
  extractorRuleSetId: fc.option(fc.string({ unit: 'binary', maxLength: 12 })),
});

const bytes = (length: fc.Arbitrary<number>) =>
  length.chain((n) => fc.uint8Array({ minLength: n, maxLength: n })).map((array) => Buffer.from(array));

const records: fc.Arbitrary<SegmentRecord> = fc
  .tuple(scopes, fc.integer({ min: 1, max: 5 }), fc.maxSafeNat())
  .chain(([scope, eventCount, receivedAtMs]) =>
    fc.record({
      scope: fc.constant(scope),
      receivedAtMs: fc.constant(receivedAtMs),
      eventCount: fc.constant(eventCount),
      ids: bytes(fc.constant(eventCount * EVENT_ID_BYTES)),
      body: bytes(fc.integer({ min: 0, max: 64 })),
    }),
  );

const sample: SegmentRecord = {
  scope: {
    kind: 'batch',
    tenantId: 'ten_1',
    projectId: 'prj_1',
    projectNo: 7,
    storage: 'shared',
    extractorRuleSetId: null,
  },
  receivedAtMs: 1_700_000_000_123,
  eventCount: 2,
  ids: Buffer.alloc(32, 0xab),
  body: Buffer.from('{"events":[]}'),
};

describe('segment frame', () => {
  it('leaves large bodies where they are, and is the same in pieces', () => {
    const body = Buffer.alloc(20_000, 'x');
    const written = [sample, { ...sample, body }, sample, { ...sample, body }];
    const pieces = segmentPieces(written);
    expect(pieces.filter((piece) => piece === body)).toHaveLength(2);
    expect(pieces).toHaveLength(4);
    expect(decodeSegment(Buffer.concat(pieces))).toEqual(written);
  });

  it('reads back what was written', () => {
    fc.assert(
      fc.property(fc.array(records, { maxLength: 8 }), (written) => {
        expect(decodeSegment(encodeSegment(written))).toEqual(written);
      }),
    );
  });

  it('writes the scope of many requests once', () => {
    const one = encodeSegment([sample]).length;
    expect(encodeSegment([sample, sample, sample]).length).toBe(one + 2 * recordBytes(sample));
  });

  it('refuses to write ids that do not match the event count', () => {
    expect(() => encodeSegment([{ ...sample, eventCount: 3 }])).toThrow(RangeError);
    expect(() => encodeSegment([{ ...sample, eventCount: 0, ids: Buffer.alloc(0) }])).toThrow(RangeError);
  });

  it('throws, and never loops, on garbage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (garbage) => {
        expect(() => decodeSegment(Buffer.from(garbage))).toThrow(SegmentFormatError);
      }),
    );
  });

  it('throws on every cut, and reads or throws on every flipped byte', () => {
    const whole = encodeSegment([sample, { ...sample, body: Buffer.alloc(0) }]);
    const boundary = encodeSegment([sample]).length;
    for (let length = 0; length < whole.length; length += 1) {
      if (length === boundary || length === boundary - recordBytes(sample)) continue;
      expect(() => decodeSegment(whole.subarray(0, length)), `cut at ${length}`).toThrow(SegmentFormatError);
    }
    for (let at = 0; at < whole.length; at += 1) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 0xff;
      try {
        decodeSegment(flipped);
      } catch (error) {
        expect(error).toBeInstanceOf(SegmentFormatError);
      }
    }
  });

  it.each([
    ['an unknown version', [2, 0, 0, 0, 2, 0, 0, 0, 0x7b, 0x7d]],
    ['a header past the end', [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]],
    ['a header without scopes', [1, 0, 0, 0, 4, 0, 0, 0, 0x6e, 0x75, 0x6c, 0x6c]],
  ])('throws on %s', (_, garbage) => {
    expect(() => decodeSegment(Buffer.from(garbage))).toThrow(SegmentFormatError);
  });

  it('throws on scopes of another shape', () => {
    for (const scope of ['null', '{}', '{"kind":"other"}', '5']) {
      const header = Buffer.from(`{"scopes":[${scope}]}`);
      const segment = Buffer.alloc(8 + header.length);
      segment.writeUInt32LE(1, 0);
      segment.writeUInt32LE(header.length, 4);
      header.copy(segment, 8);
      expect(() => decodeSegment(segment), scope).toThrow(SegmentFormatError);
    }
  });
});
