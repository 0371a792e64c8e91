import { expect, it } from 'vitest';
import { decimal, envWith, outcomeOf } from '../testing.js';
import { assertAgreesWithRationals } from './tier.testing.js';

const TABLE = '[[100, "0.10"], ["1000", dec("0.05")], [null, 0]]';
const FREE_THEN_PAID = '[[1000, 0], [null, "0.001"]]';
const FRACTIONS = '[["0.5", "2"], ["1.25", "1"], [null, "0.1"]]';
const BOUNDED = '[[10, "1"], [20, "2"]]';

it.each([
  ['0', TABLE, '0'],
  ['0.000000000000000001', TABLE, '0.0000000000000000001'],
  ['1', TABLE, '0.1'],
  ['99.5', TABLE, '9.95'],
  ['100', TABLE, '10'],
  ['100.01', TABLE, '10.0005'],
  ['1000', TABLE, '55'],
  ['1000.5', TABLE, '55'],
  ['1000000', TABLE, '55'],
  ['1000', FREE_THEN_PAID, '0'],
  ['1001', FREE_THEN_PAID, '0.001'],
  ['0.5', FRACTIONS, '1'],
  ['1.25', FRACTIONS, '1.75'],
  ['2', FRACTIONS, '1.825'],
  ['7', '[[null, "3"]]', '21'],
  ['7', '[[null, "-3"]]', '-21'],
  ['10', BOUNDED, '10'],
  ['20', BOUNDED, '30'],
  [
    '20.000000000000000001',
    BOUNDED,
    'fails: line 1, column 1: the quantity is past the bound of the last tier',
  ],
  ['-1', TABLE, 'fails: line 1, column 21: expected a quantity of 0 or more'],
])('%s by %s is %s', (quantity, tiers, outcome) => {
  const env = envWith({ quantity: decimal(quantity) });
  expect(outcomeOf(`tier_graduated(item.quantity, ${tiers})`, 'amount', env)).toBe(outcome);
});

it('agrees with rational arithmetic, tier by tier', () => {
  assertAgreesWithRationals('tier_graduated', (quantity, tiers) => {
    let from = 0n;
    let amount = 0n;
    for (const { upTo, unitPrice } of tiers) {
      const to = upTo === undefined || upTo > quantity ? quantity : upTo;
      if (to > from) amount += (to - from) * unitPrice;
      from = to;
    }
    return amount;
  });
});
