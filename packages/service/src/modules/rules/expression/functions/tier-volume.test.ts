import { expect, it } from 'vitest';
import { decimal, envWith, outcomeOf } from '../testing.js';
import { assertAgreesWithRationals } from './tier.testing.js';

const TABLE = '[[100, "0.10"], ["1000", dec("0.05")], [null, 0]]';
const BOUNDED = '[[10, "1"], [20, "2"]]';

it.each([
  ['0', TABLE, '0'],
  ['0.5', TABLE, '0.05'],
  ['100', TABLE, '10'],
  ['100.000000000000000001', TABLE, '5.00000000000000000005'],
  ['100.01', TABLE, '5.0005'],
  ['1000', TABLE, '50'],
  ['1000.000000000000000001', TABLE, '0'],
  ['7', '[[null, "3"]]', '21'],
  ['7', '[[null, "-3"]]', '-21'],
  ['10', BOUNDED, '10'],
  ['11', BOUNDED, '22'],
  ['20', BOUNDED, '40'],
  ['21', BOUNDED, 'fails: line 1, column 1: the quantity is past the bound of the last tier'],
  ['-1', TABLE, 'fails: line 1, column 18: expected a quantity of 0 or more'],
])('%s by %s is %s', (quantity, tiers, outcome) => {
  const env = envWith({ quantity: decimal(quantity) });
  expect(outcomeOf(`tier_volume(item.quantity, ${tiers})`, 'amount', env)).toBe(outcome);
});

it('agrees with rational arithmetic: one price for all of it', () => {
  assertAgreesWithRationals('tier_volume', (quantity, tiers) => {
    const reached = tiers.find(({ upTo }) => upTo === undefined || quantity <= upTo);
    return reached && quantity * reached.unitPrice;
  });
});
