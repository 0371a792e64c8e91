import { expect, it } from 'vitest';
import { decimal, envWith, outcomeOf } from '../testing.js';

it.each([
  ['0', 'tier_package(item.quantity, 1000, "2.50")', '0'],
  ['0.000000000000000001', 'tier_package(item.quantity, 1000, "2.50")', '2.5'],
  ['0.001', 'tier_package(item.quantity, 1000, "2.50")', '2.5'],
  ['999.999', 'tier_package(item.quantity, 1000, "2.50")', '2.5'],
  ['1000', 'tier_package(item.quantity, 1000, "2.50")', '2.5'],
  ['1000.000000000000000001', 'tier_package(item.quantity, 1000, "2.50")', '5'],
  ['1400', 'tier_package(item.quantity, 1000, "2.50")', '5'],
  ['1500', 'tier_package(item.quantity, 1000, "2.50")', '5'],
  ['1600', 'tier_package(item.quantity, 1000, "2.50")', '5'],
  ['2000', 'tier_package(item.quantity, 1000, "2.50")', '5'],
  ['2001', 'tier_package(item.quantity, 1000, "2.50")', '7.5'],
  ['0.3', 'tier_package(item.quantity, "0.3", dec("1"))', '1'],
  ['0.9', 'tier_package(item.quantity, "0.3", dec("1"))', '3'],
  ['0.91', 'tier_package(item.quantity, "0.3", dec("1"))', '4'],
  ['5', 'tier_package(item.quantity, 1, 0)', '0'],
  ['3.5', 'tier_package(item.quantity, dimensions.seats, "1")', '1'],
  ['7.01', 'tier_package(item.quantity, dimensions.seats, "1")', '3'],
  ['4', 'tier_package(item.quantity, 3, "-1")', '-2'],
  [
    '1e380',
    'tier_package(item.quantity, "1e-40", 1)',
    'fails: line 1, column 1: the decimal is out of range: more than 400 digits',
  ],
  [
    '-1',
    'tier_package(item.quantity, 1000, "2.50")',
    'fails: line 1, column 19: expected a quantity of 0 or more',
  ],
  [
    '-0.000000000000000001',
    'tier_package(item.quantity, 1000, "2.50")',
    'fails: line 1, column 19: expected a quantity of 0 or more',
  ],
  [
    '5',
    'tier_package(item.quantity, dec("3.5") - dimensions.seats, 1)',
    'fails: line 1, column 29: expected a size of more than 0',
  ],
  [
    '5',
    'tier_package(item.quantity, dimensions.model, 1)',
    'fails: line 1, column 40: expected an int, a decimal string or a decimal',
  ],
  [
    '5',
    'tier_package(item.quantity, 10, dimensions.batch)',
    'fails: line 1, column 44: expected an int, a decimal string or a decimal',
  ],
])('of %s: %s is %s', (quantity, source, outcome) => {
  expect(outcomeOf(source, 'amount', envWith({ quantity: decimal(quantity) }))).toBe(outcome);
});

it.each([
  ['tier_package(dimensions.seats, 2, 1)', '2'],
  ['tier_package(item.quantity, 1.5, 0.25)', '250.25'],
  ['tier_package(item.quantity, 0, "1")', 'refused: line 1, column 29: expected a size of more than 0'],
  ['tier_package(item.quantity, "0.00", "1")', 'refused: line 1, column 29: expected a size of more than 0'],
  ['tier_package(item.quantity, "-5", "1")', 'refused: line 1, column 29: expected a size of more than 0'],
  [
    'tier_package(item.quantity, double("1.5"), "1")',
    'refused: line 1, column 29: expected an int, a decimal string or a decimal',
  ],
  [
    'tier_package(item.quantity, null, "1")',
    'refused: line 1, column 29: expected an int, a decimal string or a decimal',
  ],
  [
    'tier_package(item.quantity, [1], "1")',
    'refused: line 1, column 29: expected an int, a decimal string or a decimal',
  ],
  [
    'tier_package(item.quantity, 10, "x")',
    'refused: line 1, column 33: expected an int, a decimal string or a decimal',
  ],
  [
    'tier_package(item.quantity, 10, double("0.5"))',
    'refused: line 1, column 33: expected an int, a decimal string or a decimal',
  ],
  [
    'tier_package(item.quantity, "", 1)',
    'refused: line 1, column 29: expected an int, a decimal string or a decimal',
  ],
  [
    'tier_package(int("1500"), "10", "1")',
    "refused: line 1, column 1: found no matching overload for 'tier_package(int, string, string)'; expected tier_package(Decimal, size, price)",
  ],
  [
    'tier_package(item.quantity, "10")',
    "refused: line 1, column 1: found no matching overload for 'tier_package(Decimal, string)'; expected tier_package(Decimal, size, price)",
  ],
  ['tier_package(dec("-1"), 10, 1)', 'refused: line 1, column 14: expected a quantity of 0 or more'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
