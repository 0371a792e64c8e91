import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../kernel/json/json.js';
import { checkBilling } from './billing-check.js';
import { Discounts } from './discount.js';
import type { Price } from './price.js';

function findingsOf(json: string): string[] {
  const paths: string[] = [];
  checkBilling(parseLossless(json) as never, 'x-billing', (path) => paths.push(path));
  return paths.map((path) => path.replace('x-billing.', ''));
}

it('takes no discount that rating cannot use', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 390 });
  const decimals = fc
    .tuple(
      fc.oneof(fc.nat(100).map(String), digits),
      fc.oneof(fc.nat(99).map(String), digits, fc.constant('9'.repeat(390))),
    )
    .map(([whole, fraction]) => `${BigInt(whole)}.${fraction}`);
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 38n - 1n });
  fc.assert(
    fc.property(fc.constantFrom('percent', 'amount'), decimals, amounts, (kind, value, amount) => {
      const hint = { [kind]: value };
      fc.pre(findingsOf(JSON.stringify({ discount_hints: { m: hint } })).length === 0);
      const discounts = new Discounts({ m: hint });
      for (let item = 0; item < 2; item += 1) {
        const taken = discounts.take('m', { amount, currency: 'USD' } as Price);
        expect(taken).toSatisfy((it: unknown) => typeof it === 'bigint' && it >= 0n && it <= amount);
      }
    }),
  );
});

describe('checkBilling', () => {
  it.each([
    '{}',
    '{"items": [], "pricing_hints": {}, "discount_hints": {}}',
    '{"items": [{"metric": "m", "quantity": 12345678901234567890.5}]}',
    '{"items": [{"metric": "m", "quantity": -1}]}',
    '{"items": [{"metric": "m", "quantity": "0.000000000000000000001"}]}',
    '{"pricing_hints": {"m": {"unit_price": 0}}}',
    '{"pricing_hints": {"m": {"unit_price": "1.5", "pricing_unit": 0.001, "currency": "EUR", "tier": {}}}}',
    '{"discount_hints": {"m": {"percent": 0}, "n": {"percent": "100"}, "o": {"amount": 0, "why": "x"}}}',
    '{"discount_hints": {"m": {"percent": 1.12345678901234567800}, "n": {"amount": "1e-18"}}}',
  ])('takes %s', (json) => {
    expect(findingsOf(json)).toEqual([]);
  });

  it.each([
    ['{"items": [{"metric": "m", "quantity": "1_000"}]}', ['items[0].quantity']],
    ['{"items": [{"metric": "m", "quantity": "0x10"}]}', ['items[0].quantity']],
    ['{"items": [{"metric": "m", "quantity": "Infinity"}]}', ['items[0].quantity']],
    ['{"items": [{"metric": "m", "quantity": 1e999}]}', ['items[0].quantity']],
    ['{"items": [{"metric": "m", "quantity": 1, "unit": "a\\u0000"}]}', ['items[0].unit']],
    ['{"pricing_hints": {"M": {"unit_price": 1}}}', ['pricing_hints']],
    ['{"pricing_hints": {"__proto__": {"unit_price": 1}}}', ['pricing_hints']],
    ['{"pricing_hints": {"m\\n": {"unit_price": 1}}}', ['pricing_hints']],
    ['{"pricing_hints": {"m": {"unit_price": -0.01}}}', ['pricing_hints.m.unit_price']],
    ['{"pricing_hints": {"m": {"unit_price": "a"}}}', ['pricing_hints.m.unit_price']],
    ['{"pricing_hints": {"m": {"unit_price": 1, "pricing_unit": 0}}}', ['pricing_hints.m.pricing_unit']],
    ['{"pricing_hints": {"m": {"unit_price": 1, "pricing_unit": "-1"}}}', ['pricing_hints.m.pricing_unit']],
    ['{"discount_hints": {"m": {}}}', ['discount_hints.m']],
    ['{"discount_hints": {"m": {"percent": 1, "amount": 1}}}', ['discount_hints.m']],
    ['{"discount_hints": {"m": {"percent": 100.00000000000000000001}}}', ['discount_hints.m.percent']],
    ['{"discount_hints": {"m": {"percent": -0.1}}}', ['discount_hints.m.percent']],
    ['{"discount_hints": {"m": {"amount": "-1"}}}', ['discount_hints.m.amount']],
    ['{"discount_hints": {"m": {"percent": 0.1234567890123456789}}}', ['discount_hints.m.percent']],
    ['{"discount_hints": {"m": {"amount": "1e-19"}}}', ['discount_hints.m.amount']],
  ])('refuses %s', (json, paths) => {
    expect(findingsOf(json)).toEqual(paths);
  });

  it.each([
    ['{"pricing_hints": {"In\\ud800": {}}}', '"In\\ud800" is no metric: expected text that matches'],
    [`{"discount_hints": {"${'X'.repeat(500)}": {}}}`, `"${'X'.repeat(128)}…" is no metric`],
    [
      '{"items": [{"metric": "m", "quantity": "1,5"}]}',
      'expected a decimal such as 12.5, of at most 400 digits',
    ],
  ])('says what is wrong with %s', (json, message) => {
    const messages: string[] = [];
    checkBilling(parseLossless(json) as never, 'x-billing', (_, said) => messages.push(said));
    expect(messages).toEqual([expect.stringContaining(message)]);
  });
});
