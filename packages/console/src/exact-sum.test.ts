import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactSum } from './exact-sum.js';

const FRACTION_DIGITS = 18;
const SCALE = 10n ** BigInt(FRACTION_DIGITS);

/** A decimal as the service writes it, and what it is in units of its last possible digit. */
const decimals = fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }).map((units) => {
  const magnitude = units < 0n ? -units : units;
  const fraction = (magnitude % SCALE).toString().padStart(FRACTION_DIGITS, '0').replace(/0+$/, '');
  const text = `${units < 0n ? '-' : ''}${magnitude / SCALE}${fraction === '' ? '' : `.${fraction}`}`;
  return { units, text };
});

it('adds to the last digit, and writes sums as the service writes them', () => {
  fc.assert(
    fc.property(fc.array(decimals), fc.array(decimals), (some, others) => {
      const all = [...some, ...others];
      const sum = exactSum(all.map(({ text }) => text));
      expect(
        exactSum([exactSum(some.map(({ text }) => text)), exactSum(others.map(({ text }) => text))]),
      ).toBe(sum);
      expect(sum).toMatch(/^(0|-?(0|[1-9]\d*)(\.\d*[1-9])?)$/);
      const negated = exactSum(all.map(({ text }) => (text.startsWith('-') ? text.slice(1) : `-${text}`)));
      expect(exactSum([sum, negated])).toBe('0');
    }),
  );
});

it.each([
  [[], '0'],
  [['0.1', '0.2'], '0.3'],
  [['99999999999999999999.999999999999999999', '0.000000000000000001'], '100000000000000000000'],
  [['-0.5', '0.25'], '-0.25'],
] as const)('%j gives %s', (texts, sum) => {
  expect(exactSum(texts)).toBe(sum);
});

it('rejects text that is not a decimal', () => {
  expect(() => exactSum(['1e3'])).toThrow('not a decimal: 1e3');
});
