import { expect, it } from 'vitest';
import { matchOf, refusalOf } from '../testing.js';

it.each([
  ['int("-12") == -12', 'true'],
  ['int(2.9) == 2', 'true'],
  ['int(-2.9) == -2', 'true'],
  ['int(dimensions.seats) == 3', 'true'],
  ['int(dec("-3.5")) == -3', 'true'],
  ['int(dimensions.seats) % 2 == 1', 'true'],
  ['double("1.5e2") == 150.0', 'true'],
  ['double(3) == 3.0', 'true'],
  ['string(dimensions.seats) == "3.5"', 'true'],
  ['string(item.quantity) == "1500.5"', 'true'],
  ['string(7) + string(true) == "7true"', 'true'],
  ['string(dimensions.batch) == "true"', 'true'],
  ['size([1, 2]) == 2', 'true'],
  ['[1, 2].size() == 2', 'true'],
  ['size(dimensions) == 5', 'true'],
  ['size({"a": 1}) == 1', 'true'],
  ['dyn(1) == 1.0', 'true'],
])('%s is %s', (source, expected) => {
  expect(matchOf(source)).toBe(expected);
});

it.each([
  'int("1.5") == 1',
  'int("0x10") == 16',
  'int("9223372036854775808") == 1',
  'int(1e30) == 1',
  'int(dec("9223372036854775808")) == 1',
  'int(1.0 / 0.0) == 1',
  'double("x") == 1.0',
  'double("Infinity") > 1.0',
])('%s is refused', (source) => {
  expect(refusalOf(source, 'match')).toMatch(/expects .* that can be converted/);
});

it.each([
  'int(true) == 1',
  'double(item.quantity) == 1.0',
  'string([1]) == ""',
  'size(1) == 1',
  'bool("true")',
])('%s is refused', (source) => {
  expect(refusalOf(source, 'match')).toMatch(/expects|no matching overload|not supported/);
});
