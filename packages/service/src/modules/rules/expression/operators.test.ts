import { expect, it } from 'vitest';
import { amountOf, decimal, envWith, matchOf, outcomeOf, refusalOf } from './testing.js';

it.each([
  ['item.quantity + dec("0.5")', '1501'],
  ['item.quantity - dec("0.5")', '1500'],
  ['item.quantity * item.unit_price', '3.001'],
  ['-item.quantity', '-1500.5'],
  ['dec("2") + dec("3") * dec("4")', '14'],
  ['(dec("2") + dec("3")) * dec("4")', '20'],
  ['dec("10") - dec("3") - dec("2")', '5'],
  ['dimensions.seats * dec("2")', '7'],
  ['dec(dimensions.seats * 2)', '7'],
  ['dec(2 * dimensions.seats)', '7'],
  ['dec(dimensions.seats - 0.1)', '3.4'],
  ['dec(-dimensions.seats)', '-3.5'],
])('%s is %s', (source, expected) => {
  expect(amountOf(source)).toBe(expected);
});

it.each([
  ['item.quantity > dec("1500")', 'true'],
  ['item.quantity >= dec("1500.50")', 'true'],
  ['item.quantity < dec("1500.5")', 'false'],
  ['item.quantity <= dec("1500.5")', 'true'],
  ['item.quantity == dec("1500.500")', 'true'],
  ['item.quantity != dec("1500.500")', 'false'],
  ['dimensions.seats > 3', 'true'],
  ['3 < dimensions.seats', 'true'],
  ['dimensions.seats == 3.5', 'true'],
  ['3.5 == dimensions.seats', 'true'],
  ['dimensions.seats != 3', 'true'],
  ['dimensions.seats >= dec("3.5")', 'true'],
  ['dimensions.seats < 1.0 / 0.0', 'true'],
  ['dimensions.seats > -1.0 / 0.0', 'true'],
  ['dimensions.seats < 0.0 / 0.0', 'false'],
  ['dimensions.seats == 0.0 / 0.0', 'false'],
])('%s is %s', (source, expected) => {
  expect(matchOf(source)).toBe(expected);
});

it('compares with a double by its shortest decimal, to the last digit', () => {
  const env = envWith({ dimensions: new Map([['n', decimal('0.1')]]) });
  expect(matchOf('dimensions.n == 0.1', env)).toBe('true');
  expect(matchOf('dimensions.n * 3 == dec("0.3")', env)).toBe('true');
});

it.each([
  ['item.quantity + size("a")', 'line 1, column 17: no Decimal + int; expected Decimal, write dec(…)'],
  ['size("a") * item.quantity', 'line 1, column 1: no int * Decimal; expected Decimal, write dec(…)'],
  [
    'item.quantity / dec("2")',
    'no such overload: Decimal / Decimal; expected dec_div(Decimal, Decimal, scale)',
  ],
  ['item.quantity + "1"', 'no such overload: Decimal + string; expected two decimals, write dec(…)'],
])('%s is refused', (source, reason) => {
  expect(refusalOf(source)).toContain(reason);
});

it('compares a decimal with a number that is written out, and with no int that is computed', () => {
  for (const source of ['item.quantity > 1500', '1501 > item.quantity', '-1 < item.quantity * 1'])
    expect(matchOf(source)).toBe('true');
  for (const source of ['item.quantity == 1500', 'item.quantity < 0x5dc', 'item.quantity <= 1500'])
    expect(outcomeOf(source, 'match')).not.toBe('true');
  expect(refusalOf('item.quantity > size("a")', 'match')).toBe(
    'line 1, column 17: no Decimal > int; expected Decimal, write dec(…)',
  );
});
