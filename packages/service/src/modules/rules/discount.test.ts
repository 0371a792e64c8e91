import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../kernel/json/json.js';
import { ratingInputOf } from './rating-input.js';
import { failureOf, type Item, items, itemsOf, rate } from './testing.js';

function rateDiscounted(hint: string, changes: Partial<Item>[], rawJson: string, billedItems = '[]') {
  const billing = `{"items": ${billedItems}, "discount_hints": {"tokens": ${hint}}}`;
  const input = ratingInputOf({ raw_json: {}, occurred_at: 0, 'x-billing': parseLossless(billing) });
  return rate(items(...changes), rawJson, { billing: input.billing ?? {} });
}

/** Returns amounts and discounts of items with these amounts. */
const charged = (hint: string, ...amounts: string[]) =>
  itemsOf(
    rateDiscounted(
      hint,
      amounts.map((amount, index) => ({ name: `i${index}`, amount_expr: `dec("${amount}")` })),
      '{"n": 1}',
    ),
  ).map(({ amount, discount }) => [amount, discount]);

describe('a percentage', () => {
  it.each<[string, string, string, string]>([
    ['0', '10', '10', '0'],
    ['100', '10', '0', '10'],
    ['25', '10', '7.5', '2.5'],
    ['12.5', '0.000000000000000001', '0.000000000000000001', '0'],
    // Ties to even: 0.5, 1.5 and 2.5 of the last digit.
    ['50', '0.000000000000000001', '0', '0.000000000000000001'],
    ['50', '0.000000000000000003', '0.000000000000000002', '0.000000000000000001'],
    ['50', '0.000000000000000005', '0.000000000000000002', '0.000000000000000003'],
    ['99.99999999999999999999', '99999999999999999999', '0.01', '99999999999999999998.99'],
  ])('of %s off %s leaves %s', (percent, amount, left, discount) => {
    expect(charged(`{"percent": ${percent}}`, amount)).toEqual([[left, discount]]);
  });

  it('is taken off every item of its metric', () => {
    expect(charged('{"percent": "10"}', '10', '20')).toEqual([
      ['9', '1'],
      ['18', '2'],
    ]);
  });
});

describe('an amount', () => {
  it.each<[string, string[], [string, string][]]>([
    ['0', ['10'], [['10', '0']]],
    ['4', ['10'], [['6', '4']]],
    ['10', ['10'], [['0', '10']]],
    ['11', ['10'], [['0', '10']]],
    [
      '15',
      ['10', '20', '30'],
      [
        ['0', '10'],
        ['15', '5'],
        ['30', '0'],
      ],
    ],
    ['0.0000000000000000005', ['0.000000000000000002'], [['0.000000000000000002', '0']]],
    ['1e300', ['10'], [['0', '10']]],
  ])('of %s is given once', (discount, amounts, expected) => {
    expect(charged(`{"amount": ${discount}}`, ...amounts)).toEqual(expected);
  });

  it('passes by what costs nothing, or less', () => {
    expect(charged('{"amount": 3}', '-5', '0', '10')).toEqual([
      ['-5', '0'],
      ['0', '0'],
      ['7', '3'],
    ]);
  });

  it('stays in the currency of the item that had it first', () => {
    const rated = rateDiscounted(
      '{"amount": 15}',
      [
        { name: 'free' },
        { name: 'a', amount_expr: 'dec(10)', currency: 'EUR' },
        { name: 'b', amount_expr: 'dec(10)', currency: 'USD' },
        { name: 'c', amount_expr: 'dec(10)', currency: 'EUR' },
      ],
      '{"n": 1}',
    );
    expect(itemsOf(rated)).toMatchObject([
      { pricingSource: 'unpriced', amount: '0', discount: '0' },
      { amount: '0', discount: '10' },
      { amount: '10', discount: '0' },
      { amount: '5', discount: '5' },
    ]);
  });

  it("is given once to the client's own items as well", () => {
    const own = '[{"metric": "tokens", "quantity": 2}, {"metric": "tokens", "quantity": 3}]';
    const rated = rateDiscounted('{"amount": 3}', [{ unit_price_expr: 'dec(1)' }], '{"n": 9}', own);
    expect(itemsOf(rated)).toMatchObject([
      { source: 'x_billing', amount: '0', discount: '2' },
      { source: 'x_billing', amount: '2', discount: '1' },
    ]);
  });
});

it('leaves other metrics and the unit price alone', () => {
  const rated = rateDiscounted(
    '{"percent": 50}',
    [{ unit_price_expr: 'dec(4)' }, { metric: 'constructor', unit_price_expr: 'dec(4)' }],
    '{"n": 1}',
  );
  expect(itemsOf(rated)).toMatchObject([
    { amount: '2', unitPrice: '4' },
    { amount: '4', unitPrice: '4' },
  ]);
});

it('fails the event where it has too many digits to compute with', () => {
  const rated = rateDiscounted('{"percent": 1e-399}', [{ amount_expr: 'dec("0.7")' }], '{"n": 1}');
  expect(failureOf(rated)).toEqual(['decimal_out_of_range', 'x-billing.discount_hints.tokens']);
});
