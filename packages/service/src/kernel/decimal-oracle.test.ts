import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  abs,
  add,
  ceil,
  compare,
  type Decimal,
  divide,
  equals,
  floor,
  fromStored,
  isZero,
  max,
  min,
  mul,
  neg,
  parseDecimal,
  round,
  sign,
  sub,
  toStored,
  toText,
} from './decimal.js';

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`);
  return parsed;
}

/** Plain decimal text with up to 25 integer and 25 fraction digits, including zeros at both ends of the fraction. */
const decimalText = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.stringMatching(/^[0-9]{0,25}$/))
  .map(([minus, whole, fraction]) => `${minus ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`);

/** Returns what big.js prints, in our canonical form. */
function oracle(value: Big): string {
  const text = value.toFixed();
  return text === '-0' ? '0' : text;
}

describe('against big.js', () => {
  const pair = fc.tuple(decimalText, decimalText);
  const scales = fc.integer({ min: 0, max: 40 });

  it('text round trip', () => {
    fc.assert(
      fc.property(decimalText, (text) => {
        const canonical = toText(decimal(text));
        expect(canonical).toBe(oracle(new Big(text)));
        expect(toText(decimal(canonical))).toBe(canonical);
      }),
    );
  });

  it('text with an exponent', () => {
    fc.assert(
      fc.property(decimalText, fc.integer({ min: -60, max: 60 }), (text, exponent) => {
        expect(toText(decimal(`${text}e${exponent}`))).toBe(oracle(new Big(`${text}e${exponent}`)));
      }),
    );
  });

  it('exact arithmetic and order', () => {
    fc.assert(
      fc.property(pair, ([x, y]) => {
        const [a, b, p, q] = [decimal(x), decimal(y), new Big(x), new Big(y)];
        expect(toText(add(a, b))).toBe(oracle(p.plus(q)));
        expect(toText(sub(a, b))).toBe(oracle(p.minus(q)));
        expect(toText(mul(a, b))).toBe(oracle(p.times(q)));
        expect(toText(neg(a))).toBe(oracle(p.times(-1)));
        expect(toText(abs(a))).toBe(oracle(p.abs()));
        expect(compare(a, b)).toBe(p.cmp(q));
        expect(equals(a, b)).toBe(p.eq(q));
        expect(sign(a)).toBe(p.cmp(0));
        expect(isZero(a)).toBe(p.eq(0));
        expect(toText(min(a, b))).toBe(oracle(p.lt(q) ? p : q));
        expect(toText(max(a, b))).toBe(oracle(p.gt(q) ? p : q));
      }),
    );
  });

  it('division and rounding', () => {
    fc.assert(
      fc.property(pair, scales, ([x, y], scale) => {
        const [a, p] = [decimal(x), new Big(x)];
        const isNegative = p.lt(0);
        expect(toText(round(a, scale))).toBe(oracle(p.round(scale, Big.roundHalfEven)));
        const [toZero, fromZero] = [p.round(scale, Big.roundDown), p.round(scale, Big.roundUp)];
        expect(toText(floor(a, scale))).toBe(oracle(isNegative ? fromZero : toZero));
        expect(toText(ceil(a, scale))).toBe(oracle(isNegative ? toZero : fromZero));
        if (isZero(decimal(y))) return;
        const Exact = Big();
        Exact.DP = scale;
        Exact.RM = Big.roundHalfEven;
        expect(toText(divide(a, decimal(y), scale))).toBe(oracle(new Exact(x).div(y)));
      }),
    );
  });

  it('ties are met often enough to matter', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1_000, max: 1_000 }),
        fc.constantFrom('2', '4', '8', '-8'),
        (n, divisor) => {
          const Exact = Big();
          Exact.DP = 1;
          Exact.RM = Big.roundHalfEven;
          const quotient = divide(decimal(String(n)), decimal(divisor), 1);
          expect(toText(quotient)).toBe(oracle(new Exact(n).div(divisor)));
        },
      ),
    );
  });

  it('stored integers', () => {
    fc.assert(
      fc.property(decimalText, (text) => {
        const rounded = new Big(text).round(18, Big.roundHalfEven);
        const stored = toStored(decimal(text));
        if (rounded.abs().gte('1e20')) expect(stored).toBeUndefined();
        else expect(toText(fromStored(stored ?? -1n))).toBe(oracle(rounded));
      }),
    );
  });
});
