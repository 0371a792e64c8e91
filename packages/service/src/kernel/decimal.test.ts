import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  COEFFICIENT_DIGITS_MAX,
  ceil,
  compare,
  type Decimal,
  DecimalRangeError,
  DivisionByZeroError,
  decimalFromBigInt,
  decimalFromNumber,
  divide,
  floor,
  mul,
  neg,
  parseDecimal,
  round,
  SCALE_MAX,
  sub,
  toStored,
  toText,
  ZERO,
} from './decimal.js';

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`);
  return parsed;
}

describe('parseDecimal', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.000', '0'],
    ['12.50', '12.5'],
    ['-3', '-3'],
    ['0.1', '0.1'],
    ['100', '100'],
    ['9999999999999999', '9999999999999999'],
    ['999999999999999.9', '999999999999999.9'],
    ['12345678901234567890', '12345678901234567890'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['1.5e-7', '0.00000015'],
    ['-2.50e1', '-25'],
    ['1e0000000001', '10'],
    ['0e999999999', '0'],
    ['0e-999999999', '0'],
    [`0e${'9'.repeat(400)}`, '0'],
    [`1${'0'.repeat(500)}e-500`, '1'],
    [`0.${'0'.repeat(500)}1e501`, '1'],
    ['5e-324', `0.${'0'.repeat(323)}5`],
    [`1e${COEFFICIENT_DIGITS_MAX - 1}`, `1${'0'.repeat(COEFFICIENT_DIGITS_MAX - 1)}`],
  ])('reads %s as %s', (text, expected) => {
    expect(toText(decimal(text))).toBe(expected);
  });

  it.each([
    ...[
      '',
      ' ',
      '-',
      '+1',
      '01',
      '-01',
      '00',
      '1.',
      '.5',
      '-.5',
      '1.e3',
      '1e',
      '1e+',
      '1e1.5',
      '1ee3',
      '1 ',
      ' 1',
    ],
    ...[
      '0x10',
      '0b1',
      '1_000',
      '1,000',
      'Infinity',
      '-Infinity',
      'NaN',
      '1n',
      '--1',
      '1.2.3',
      '١٢',
      '1\n',
      '1\0',
    ],
    ...['1e400', '1e-401', '1e999999999', '-1e-999999999', `1e${'9'.repeat(400)}`, `1e-${'9'.repeat(400)}`],
    ...['9'.repeat(COEFFICIENT_DIGITS_MAX + 1), '9'.repeat(1_000_000), `0.${'0'.repeat(SCALE_MAX)}1`],
  ])('refuses %s', (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });
});

describe('decimalFromNumber', () => {
  it.each([
    [0.1, '0.1'],
    [-0, '0'],
    [1e21, '1000000000000000000000'],
    [2 ** 53, '9007199254740992'],
    [1.5e-7, '0.00000015'],
  ])('%d is %s', (n, expected) => {
    expect(toText(decimalFromNumber(n) ?? ZERO)).toBe(expected);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('refuses %d', (n) => {
    expect(decimalFromNumber(n)).toBeUndefined();
  });

  it('reads every finite double without loss', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(finite, (n) => {
        const read = decimalFromNumber(n);
        expect(read).toBeDefined();
        expect(Number(toText(read ?? ZERO))).toBe(n === 0 ? 0 : n);
      }),
    );
    for (const n of [Number.MAX_VALUE, Number.MIN_VALUE, 2.2250738585072014e-308]) {
      expect(Number(toText(decimalFromNumber(n) ?? ZERO))).toBe(n);
    }
  });
});

describe('rounding', () => {
  it.each([
    ['0.5', 0, '0', '0', '1'],
    ['1.5', 0, '2', '1', '2'],
    ['2.5', 0, '2', '2', '3'],
    ['-0.5', 0, '0', '-1', '0'],
    ['-1.5', 0, '-2', '-2', '-1'],
    ['-2.5', 0, '-2', '-3', '-2'],
    ['2.51', 0, '3', '2', '3'],
    ['-2.49', 0, '-2', '-3', '-2'],
    ['1.005', 2, '1', '1', '1.01'],
    ['1.015', 2, '1.02', '1.01', '1.02'],
    ['7', 3, '7', '7', '7'],
  ])('%s to %i digits', (text, scale, halfEven, down, up) => {
    expect(toText(round(decimal(text), scale))).toBe(halfEven);
    expect(toText(floor(decimal(text), scale))).toBe(down);
    expect(toText(ceil(decimal(text), scale))).toBe(up);
  });

  it.each([-1, 0.5, Number.NaN, SCALE_MAX + 1, Number.POSITIVE_INFINITY])('refuses scale %d', (scale) => {
    for (const operation of [round, floor, ceil]) {
      expect(() => operation(decimal('1'), scale)).toThrow(DecimalRangeError);
    }
    expect(() => divide(decimal('1'), decimal('3'), scale)).toThrow(DecimalRangeError);
  });
});

describe('divide', () => {
  it.each([
    ['1', '3', 4, '0.3333'],
    ['-2', '3', 4, '-0.6667'],
    ['1', '8', 2, '0.12'],
    ['3', '8', 2, '0.38'],
    ['1', '-8', 2, '-0.12'],
    ['-3', '-8', 2, '0.38'],
    ['0.0001', '100', 2, '0'],
    ['123.456', '0.001', 0, '123456'],
  ])('%s / %s to %i digits is %s', (a, b, scale, expected) => {
    expect(toText(divide(decimal(a), decimal(b), scale))).toBe(expected);
  });

  it('refuses a zero divisor', () => {
    expect(() => divide(decimal('1'), decimal('0.00'), 2)).toThrow(DivisionByZeroError);
  });
});

describe('bounds', () => {
  it('throws instead of growing without limit', () => {
    const large = decimalFromBigInt(10n ** BigInt(COEFFICIENT_DIGITS_MAX - 1));
    const fine = decimal(`1e-${SCALE_MAX}`);
    expect(() => mul(large, decimal('10'))).toThrow(DecimalRangeError);
    expect(() => mul(neg(large), decimal('10'))).toThrow(DecimalRangeError);
    expect(() => mul(fine, decimal('0.1'))).toThrow(DecimalRangeError);
    expect(() => add(large, fine)).toThrow(DecimalRangeError);
    expect(() => sub(fine, large)).toThrow(DecimalRangeError);
    expect(() => divide(large, fine, 0)).toThrow(DecimalRangeError);
    expect(() => decimalFromBigInt(10n ** BigInt(COEFFICIENT_DIGITS_MAX))).toThrow(DecimalRangeError);
    expect(compare(large, fine)).toBe(1);
  });

  it('divides at the far ends of the scale', () => {
    const fine = decimal(`1e-${SCALE_MAX}`);
    expect(toText(divide(fine, fine, 0))).toBe('1');
    expect(toText(divide(fine, fine, SCALE_MAX - 1))).toBe('1');
    expect(toText(divide(fine, decimal('2'), SCALE_MAX))).toBe('0');
  });
});

describe('toStored', () => {
  it.each([
    ['1', 10n ** 18n],
    ['-0.000000000000000001', -1n],
    ['0.0000000000000000005', 0n],
    ['0.0000000000000000015', 2n],
    ['-0.0000000000000000025', -2n],
    ['99999999999999999999.999999999999999999', 10n ** 38n - 1n],
    ['-99999999999999999999.999999999999999999', 1n - 10n ** 38n],
    ['100000000000000000000', undefined],
    ['99999999999999999999.9999999999999999995', undefined],
    ['-100000000000000000000', undefined],
  ])('%s', (text, expected) => {
    expect(toStored(decimal(text))).toBe(expected);
  });
});

it('prints itself as plain text', () => {
  expect(`${decimal('1.50')}`).toBe('1.5');
  expect(JSON.stringify({ amount: decimal('1.50') })).toBe('{"amount":"1.5"}');
});
