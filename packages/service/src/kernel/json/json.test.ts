import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { Decimal, toText } from '../decimal.js';
import {
  decimalFromJson,
  JSON_DEPTH_MAX,
  JsonDepthError,
  NumericText,
  parseJson,
  parseLossless,
  scanJson,
  stringifyLossless,
} from './json.js';

/** The value that JSON.parse would have given: every numeric text as the nearest double. */
function withDoubles(value: unknown): unknown {
  if (value instanceof NumericText) return Number(value.text);
  if (Array.isArray(value)) return value.map(withDoubles);
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: withDoubles(member), enumerable: true });
  }
  return copy;
}

function nested(depth: number, open = '[', close = ']'): string {
  return open.repeat(depth) + (open === '[' ? '' : '0') + close.repeat(depth);
}

const numberText = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/);
const whitespace = fc.constantFrom('', '', '', ' ', '\n', '\t\r ');
const stringText = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"__proto__"',
    '"constructor"',
    '"a"',
    '"\\u0061"',
    '"\\ud800"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
  ),
);

/** JSON texts of every shape: odd numbers, escapes, duplicate and hostile keys, whitespace anywhere. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => {
  const padded = fc.tuple(whitespace, tie('value'), whitespace).map((parts) => parts.join(''));
  const key = fc.tuple(whitespace, stringText, whitespace).map((parts) => parts.join(''));
  return {
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.oneof(numberText, stringText, fc.constantFrom('true', 'false', 'null')),
      fc.array(padded, { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
      fc
        .array(
          fc.tuple(key, padded).map((member) => member.join(':')),
          { maxLength: 4 },
        )
        .map((members) => `{${members.join(',')}}`),
    ),
  };
}).value;

/** Texts that are nearly JSON: a few characters cut, doubled or replaced. */
const brokenText = fc
  .tuple(
    jsonText,
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom(...'{}[]",:\\0123456789.eE+-tfnu/ \n\u0000\u0019\u00a0\ufeff', 'NaN', '\\u12', '//'),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((edited, [place, cut, insert]) => {
      const at = place % (edited.length + 1);
      return edited.slice(0, at) + insert + edited.slice(at + cut);
    }, text),
  );

describe('parseLossless', () => {
  it.each([
    ['0.1', 0.1],
    ['-0', -0],
    ['1e2', 100],
    ['0.30000000000000004', 0.30000000000000004],
    ['9007199254740993', new NumericText('9007199254740993')],
    ['12345678901234567890', new NumericText('12345678901234567890')],
    ['0.1234567890123456789', new NumericText('0.1234567890123456789')],
    ['1e999999999', new NumericText('1e999999999')],
    ['1e-400', new NumericText('1e-400')],
    ['{"a":1,"b":2,"a":3}', { a: 3, b: 2 }],
    [' [ ] ', []],
  ])('%s', (text, expected) => {
    expect(parseLossless(text)).toStrictEqual(expected);
  });

  it('keeps __proto__ and constructor as data', () => {
    const parsed = parseLossless('{"__proto__":{"isAdmin":true},"constructor":1,"__proto__":2}') as object;
    expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(parsed, '__proto__')?.value).toBe(2);
  });

  it('accepts what JSON.parse accepts, with the same value', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const expected: unknown = JSON.parse(text);
        const parsed = withDoubles(parseLossless(text));
        deepStrictEqual(parsed, expected);
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(expected));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('refuses what JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.oneof(brokenText, fc.string()), (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseLossless(text)).toThrow(
            /^Unexpected (end of|character in) JSON at position \d+$/,
          );
          return;
        }
        deepStrictEqual(withDoubles(parseLossless(text)), expected);
      }),
      { numRuns: propertyRuns(1_250) },
    );
  });

  it('bounds the depth', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      expect(() => parseLossless(nested(JSON_DEPTH_MAX, open, close))).not.toThrow();
      expect(() => parseLossless(nested(JSON_DEPTH_MAX + 1, open, close))).toThrow(JsonDepthError);
    }
    expect(() => parseLossless('['.repeat(1_000_000))).toThrow(JsonDepthError);
    expect(parseLossless(`[${'[],'.repeat(1_000)}[]]`)).toHaveLength(1_001);
  });

  it('takes a number of a million digits', () => {
    const digits = '7'.repeat(1_000_000);
    expect(parseLossless(digits)).toStrictEqual(new NumericText(digits));
    expect(decimalFromJson(new NumericText(digits))).toBeUndefined();
    expect(decimalFromJson(new NumericText('1e999999999'))).toBeUndefined();
  });
});

describe('scanJson', () => {
  it.each([
    ['0', 0, false],
    ['[]', 1, false],
    ['{"a":[{"b":"[[[{{{"}]}', 3, false],
    ['"\\"[[["', 0, false],
    ['[123456789012345,-0.00012345678901234]', 1, false],
    ['1234567890123456', 0, true],
    ['{"n":1e5}', 1, true],
    ['"1e5 12345678901234567890"', 0, false],
    [`0.${'0'.repeat(320)}123456`, 0, true],
    [']]][[', 0, false],
    ['"\\', 0, false],
  ])('%s', (text, depthMax, hasInexactNumber) => {
    expect(scanJson(Buffer.from(text))).toMatchObject({ depthMax, hasInexactNumber });
  });

  it('counts values: never too few, and each at most twice', () => {
    const valuesOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce((sum: number, member) => sum + valuesOf(member), 0)
        : 1;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { valueCount } = scanJson(Buffer.from(JSON.stringify(value)));
        expect(valueCount + 1).toBeGreaterThanOrEqual(valuesOf(value));
        expect(valueCount).toBeLessThanOrEqual(2 * valuesOf(value));
      }),
    );
  });

  it('never misses an inexact number, and counts the depth', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const holdsText = (value: unknown): boolean =>
      value instanceof NumericText ||
      (typeof value === 'object' && value !== null && Object.values(value).some(holdsText));
    fc.assert(
      fc.property(jsonText, (text) => {
        const scan = scanJson(Buffer.from(text));
        if (!scan.hasInexactNumber) expect(holdsText(parseLossless(text))).toBe(false);
        // A duplicate key hides the value before it, so the scan may only find more depth.
        expect(scan.depthMax).toBeGreaterThanOrEqual(depthOf(JSON.parse(text)));
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(scanJson(Buffer.from(JSON.stringify(value))).depthMax).toBe(depthOf(value));
      }),
    );
  });

  it('ends on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(scanJson(bytes).depthMax).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});

describe('parseJson', () => {
  it('is JSON.parse plus the digits', () => {
    expect(parseJson(Buffer.from('{"é":0.1}'))).toStrictEqual({ é: 0.1 });
    expect(parseJson(Buffer.from('[12345678901234567890]'))).toStrictEqual([
      new NumericText('12345678901234567890'),
    ]);
    expect(() => parseJson(Buffer.from('{"a":}'))).toThrow(SyntaxError);
    expect(() => parseJson(Buffer.from('[1e5'))).toThrow(SyntaxError);
    expect(() => parseJson(Buffer.from('['.repeat(100_000)))).toThrow(JsonDepthError);
  });
});

describe('stringifyLossless', () => {
  it.each([
    '{"a":12345678901234567890,"b":[0.1,1e-400],"__proto__":{"c":null}}',
    '[{"quantity":0.1234567890123456789,"text":"\\u0000\\""}]',
    '123456789012345678901234567890',
  ])('prints %s as it was', (text) => {
    expect(stringifyLossless(parseLossless(text))).toBe(text);
  });

  it('follows JSON.stringify in all else', () => {
    const odd = {
      skipped: undefined,
      at: new Date(0),
      nan: Number.NaN,
      list: [undefined, ...Array(1), () => 1],
    };
    const amount = new Decimal(150n, 2);
    const big = new NumericText('1e400');
    expect(stringifyLossless({ ...odd, amount })).toBe(JSON.stringify({ ...odd, amount }));
    expect(stringifyLossless({ ...odd, amount, big })).toBe(
      JSON.stringify({ ...odd, amount, big: 0 }).replace('"big":0', '"big":1e400'),
    );
    expect(JSON.stringify({ big })).toBe('{"big":"1e400"}');
  });

  it('refuses what has no JSON form', () => {
    const cycle: Record<string, unknown> = { number: new NumericText('1e400') };
    cycle.self = [cycle];
    expect(() => stringifyLossless(undefined)).toThrow(TypeError);
    expect(() => stringifyLossless({ n: 1n })).toThrow(TypeError);
    expect(() => stringifyLossless([cycle])).toThrow(JsonDepthError);
  });

  it('loses nothing on the way there and back', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const value = parseLossless(text);
        const printed = stringifyLossless(value);
        expect(stringifyLossless(parseLossless(printed))).toBe(printed);
        expect(JSON.stringify(JSON.parse(printed))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});

describe('decimalFromJson', () => {
  it.each([
    [0.1, '0.1'],
    ['12.50', '12.5'],
    [new NumericText('12345678901234567890.5'), '12345678901234567890.5'],
  ])('%s', (value, expected) => {
    expect(toText(decimalFromJson(value) ?? new Decimal(-1n, 0))).toBe(expected);
  });

  it.each(['', 'abc', '0x10', ' 1', Number.NaN])('refuses %s', (value) => {
    expect(decimalFromJson(value)).toBeUndefined();
  });
});
