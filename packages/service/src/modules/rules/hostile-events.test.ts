import { DIMENSION_VALUE_CHARS_MAX, type ExtractorConfig } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { failureOf, itemsOf, rate } from './testing.js';

const MILLION_DIGITS = '9'.repeat(1_000_000);
const DEEP = `${'['.repeat(60)}1${']'.repeat(60)}`;

/** Prices `n` by a dimension. */
function pricedBy(type: 'string' | 'number' | 'boolean', expression: string): ExtractorConfig {
  return {
    dimensions: [{ name: 'x', path: 'x', type }],
    charge_item_extractors: [
      { metric: 'tokens', path: 'n', type: 'number', unit: 'token', unit_price_expr: expression },
    ],
  };
}

it.each([
  ['a list', DEEP],
  ['a map', `{"__proto__": ${DEEP}}`],
  ['a long number', MILLION_DIGITS],
])('fails on %s where text was expected, before any expression sees it', (_, x) => {
  const rated = rate(pricedBy('string', 'dec(dimensions.x)'), `{"n": 1, "x": ${x}}`);
  expect(failureOf(rated)).toEqual(['dimension_type_mismatch', 'dimensions[0]']);
});

it.each([
  ['a million digits', MILLION_DIGITS],
  ['a million digits after the point', `0.${MILLION_DIGITS}`],
  ['a million zeros by an exponent', '1e1000000'],
])('fails on %s', (_, digits) => {
  const [code] = failureOf(rate(pricedBy('number', 'dec(dimensions.x)'), `{"n": 1, "x": ${digits}}`));
  expect(['dimension_type_mismatch', 'decimal_out_of_range']).toContain(code);
  const text = digits.slice(0, DIMENSION_VALUE_CHARS_MAX);
  expect(failureOf(rate(pricedBy('string', 'dec(dimensions.x)'), `{"n": 1, "x": "${text}"}`))).toEqual([
    'pricing_failed',
    'charge_item_extractors[0].unit_price_expr',
  ]);
  expect(failureOf(rate(pricedBy('string', 'dec("1")'), `{"n": ${digits}, "x": ""}`))[0]).toMatch(
    /decimal_out_of_range|quantity/,
  );
});

it('fails on a text too long to be summed by, and takes one that just fits', () => {
  const text = (chars: number) =>
    rate(pricedBy('string', 'dec("1")'), `{"n": 1, "x": "${'x'.repeat(chars)}"}`);
  expect(itemsOf(text(DIMENSION_VALUE_CHARS_MAX))).toHaveLength(1);
  for (const chars of [DIMENSION_VALUE_CHARS_MAX + 1, 1_000_000]) {
    expect(failureOf(text(chars))).toEqual(['dimension_too_long', 'dimensions[0]']);
  }
});

it.each([
  ['NUL', '\\u0000'],
  ['half of a surrogate pair', '\\ud800'],
])('replaces %s, which stores cannot hold, in a text dimension', (_, escaped) => {
  const rated = rate(
    pricedBy('string', 'dec(size(string(dimensions.x)))'),
    `{"n": 1, "x": "a${escaped}b 😀"}`,
  );
  expect(rated.dimensions.get('x')).toBe('a\ufffdb 😀');
  expect(itemsOf(rated)).toMatchObject([{ unitPrice: '5' }]);
});

it('takes a name that objects inherit for an ordinary one, and reads nothing through it', () => {
  const config = pricedBy('string', 'dimensions.x == "constructor" ? dec("1") : dec("2")');
  expect(itemsOf(rate(config, '{"n": 1, "x": "constructor", "__proto__": {"n": 5}}'))).toMatchObject([
    { quantity: '1', unitPrice: '1' },
  ]);
});
