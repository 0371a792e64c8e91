import { expect, it } from 'vitest';
import { amountOf, matchOf, refusalOf } from '../testing.js';

it.each([
  // value, digits, dec_round (half-even), dec_floor, dec_ceil
  ['0.5', 0, '0', '0', '1'],
  ['1.5', 0, '2', '1', '2'],
  ['2.5', 0, '2', '2', '3'],
  ['-0.5', 0, '0', '-1', '0'],
  ['-1.5', 0, '-2', '-2', '-1'],
  ['1.005', 2, '1', '1', '1.01'],
  ['7', 38, '7', '7', '7'],
])('%s to %i digits', (value, scale, halfEven, down, up) => {
  expect(amountOf(`dec_round(dec("${value}"), ${scale})`)).toBe(halfEven);
  expect(amountOf(`dec_floor(dec("${value}"), ${scale})`)).toBe(down);
  expect(amountOf(`dec_ceil(dec("${value}"), ${scale})`)).toBe(up);
});

it('takes the number of digits from an expression', () => {
  expect(amountOf('dec_round(item.quantity, size("") + 0)')).toBe('1500');
  expect(amountOf('dec_round(item.quantity, size(dimensions.model) - 7)')).toBe(
    'fails: line 1, column 26: expected a scale from 0 to 38 fraction digits',
  );
});

it.each([
  ['dec_cmp(dec("1"), dec("2")) == -1', 'true'],
  ['dec_cmp(dec("2.0"), dec("2")) == 0', 'true'],
  ['dec_cmp(item.quantity, dec("2")) == 1', 'true'],
  ['dec_cmp(dimensions.seats, dec("4")) < 0', 'true'],
])('%s is %s', (source, expected) => {
  expect(matchOf(source)).toBe(expected);
});

it.each(['dec_round(dec("1"), -1)', 'dec_floor(dec("1"), 39)', 'dec_ceil(dec("1"), 9223372036854775807)'])(
  '%s is refused',
  (source) => {
    expect(refusalOf(source)).toContain('expected a scale from 0 to 38 fraction digits');
  },
);

it.each(['dec_round(dec("1"))', 'dec_round("1", 2)', 'dec_round(dec("1"), "2")', 'dec_cmp(1, 2)'])(
  '%s is refused',
  (source) => {
    expect(refusalOf(source)).toContain('no matching overload');
  },
);
