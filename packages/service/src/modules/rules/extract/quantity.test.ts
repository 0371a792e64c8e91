import { type ChargeItemExtractor, LESS_PATHS_MAX } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf, items, itemsOf, rate } from '../testing.js';
import { compileExtractor } from './index.js';

const TOTAL = { path: 'total', less_paths: ['parts.cached', 'parts.audio'] };

describe('a quantity less what other charge items report', () => {
  it.each<[string, string, string]>([
    ['both parts', '{"total": 100, "parts": {"cached": 30, "audio": 20}}', '50'],
    ['a part that is missing', '{"total": 100, "parts": {"cached": 30}}', '70'],
    ['a part that is null', '{"total": 100, "parts": {"cached": null, "audio": 20}}', '80'],
    ['no part at all', '{"total": 100}', '100'],
    ['parts that are the whole', '{"total": 100, "parts": {"cached": 60, "audio": 40}}', '0'],
    ['fractions, exactly', '{"total": 0.3, "parts": {"cached": 0.1, "audio": 0.2}}', '0'],
    [
      'digits that no double holds',
      '{"total": 12345678901234567890.5, "parts": {"cached": 12345678901234567889.4}}',
      '1.1',
    ],
    [
      'parts of different scale',
      '{"total": 1e10, "parts": {"cached": 1e-18}}',
      '9999999999.999999999999999999',
    ],
  ])('%s', (_, rawJson, quantity) => {
    expect(itemsOf(rate(items(TOTAL), rawJson))).toMatchObject([{ quantity }]);
  });

  it('reads decimals in strings, if that is its type', () => {
    const config = items({ ...TOTAL, type: 'decimal_string' });
    const rawJson = '{"total": "1.5", "parts": {"cached": "0.25"}}';
    expect(itemsOf(rate(config, rawJson))).toMatchObject([{ quantity: '1.25' }]);
  });

  it.each(['{}', '{"total": null}', '{"parts": {"cached": 5}}', '{"parts": {"cached": "no number"}}'])(
    'yields no charge item without a total: %s',
    (rawJson) => {
      expect(itemsOf(rate(items(TOTAL), rawJson))).toEqual([]);
    },
  );

  it('is what the price is computed from', () => {
    const [item] = itemsOf(
      rate(items({ ...TOTAL, unit_price_expr: 'dec("0.5")' }), '{"total": 9, "parts": {"audio": 2}}'),
    );
    expect(item).toMatchObject({ quantity: '7', amount: '3.5' });
  });

  it.each<[string, Partial<ChargeItemExtractor>, string, string, string]>([
    ['text', {}, '{"total": 1, "parts": {"audio": "1"}}', 'quantity_type_mismatch', 'less_paths[1]'],
    [
      'a number among strings',
      { type: 'decimal_string' },
      '{"total": "1", "parts": {"cached": 1}}',
      'quantity_type_mismatch',
      'less_paths[0]',
    ],
    [
      'a negative part',
      {},
      '{"total": 1, "parts": {"cached": -1, "audio": 1}}',
      'quantity_negative',
      'less_paths[0]',
    ],
    [
      'a part with 500 digits',
      {},
      `{"total": 1, "parts": {"cached": 1${'0'.repeat(500)}}}`,
      'decimal_out_of_range',
      'less_paths[0]',
    ],
    [
      'digits that are too far apart',
      {},
      '{"total": 1e350, "parts": {"cached": 1e-350}}',
      'decimal_out_of_range',
      'less_paths[0]',
    ],
    ['a total that is text', {}, '{"total": "1", "parts": {"cached": 1}}', 'quantity_type_mismatch', 'path'],
    ['a negative total', {}, '{"total": -1, "parts": {"cached": 1}}', 'quantity_negative', 'path'],
  ])('fails the event: %s', (_, change, rawJson, code, place) => {
    const rated = rate(items({ metric: 'first' }, { ...TOTAL, ...change }), rawJson);
    expect(failureOf(rated)).toEqual([code, `charge_item_extractors[1].${place}`]);
  });

  it('says at which part the quantity becomes negative', () => {
    const rated = rate(items(TOTAL), '{"total": 10, "parts": {"cached": 4, "audio": 7}}');
    expect(rated).toMatchObject({
      ok: false,
      failure: {
        code: 'quantity_negative',
        path: 'charge_item_extractors[0].less_paths[1]',
        message: 'The quantity is negative once less_paths[1], parts.audio, is subtracted.',
      },
    });
  });

  it('never charges a token twice, nor loses one', () => {
    const config = items(
      { metric: 'fresh', path: 'total', less_paths: ['a', 'b'] },
      { metric: 'a', path: 'a' },
      { metric: 'b', path: 'b' },
    );
    const count = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(count, count, count, (fresh, a, b) => {
        const found = itemsOf(rate(config, `{"total": ${fresh + a + b}, "a": ${a}, "b": ${b}}`));
        expect(found.map(({ quantity }) => BigInt(quantity as string))).toEqual([fresh, a, b]);
      }),
    );
  });
});

describe('what is saved', () => {
  const issuesOf = (...lessPaths: string[]) => {
    const result = compileExtractor(items({ less_paths: lessPaths }));
    return result.ok ? [] : result.issues.map(({ path }) => path);
  };

  it('takes none, and as many as there may be', () => {
    expect(issuesOf()).toEqual([]);
    expect(issuesOf(...Array.from({ length: LESS_PATHS_MAX }, (_, index) => `$.parts['${index}']`))).toEqual(
      [],
    );
  });

  it('names each path that is wrong', () => {
    expect(issuesOf('a', 'a[*]', 'a-b')).toEqual([
      'charge_item_extractors[0].less_paths[1]',
      'charge_item_extractors[0].less_paths[2]',
    ]);
  });
});
