import { expect, it } from 'vitest';
import { decimal, envWith, outcomeOf } from '../testing.js';

it.each([
  ['dec("0.000002")', '0.000002'],
  ['dec("-3")', '-3'],
  ['dec("0")', '0'],
  ['dec("-0")', '0'],
  ['dec("1.500")', '1.5'],
  ['dec("1e-7")', '0.0000001'],
  ['dec("1E+3")', '1000'],
  ['dec("12345678901234567890.123456789012345678")', '12345678901234567890.123456789012345678'],
  ['dec("1e-400") * dec("1e399")', '0.1'],
  ['dec(5)', '5'],
  ['dec(-9223372036854775808)', '-9223372036854775808'],
  ['dec(0x10)', '16'],
  ['dec(0.1)', '0.1'],
  ['dec(1e3)', '1000'],
  ['dec(-0.0)', '0'],
  ['dec(1.7976931348623157e308) > dec("1") ? dec("1") : dec("0")', '1'],
  ['dec(item.quantity)', '1500.5'],
  ['dec(dec("1.50"))', '1.5'],
  ['dec(dimensions.seats)', '3.5'],
  ['dec(size("four"))', '4'],
  ['dec("")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec(" 1")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1 ")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("+1")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("01")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1.")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec(".5")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1,5")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("0x10")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("Infinity")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("NaN")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1_000")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("٣")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1e401")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1e-401")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec("1e999999999")', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec(1.0 / 0.0)', 'refused: line 1, column 1: dec() expects a number such as "0.25"'],
  [
    'dec(true)',
    "refused: line 1, column 1: found no matching overload for 'dec(bool)'; expected dec(string | int | double | Decimal)",
  ],
  [
    'dec(null)',
    "refused: line 1, column 1: found no matching overload for 'dec(null)'; expected dec(string | int | double | Decimal)",
  ],
  [
    'dec([1])',
    "refused: line 1, column 1: found no matching overload for 'dec(list<int>)'; expected dec(string | int | double | Decimal)",
  ],
  [
    'dec({"a": 1})',
    "refused: line 1, column 1: found no matching overload for 'dec(map<string, int>)'; expected dec(string | int | double | Decimal)",
  ],
  [
    'dec()',
    "refused: line 1, column 1: found no matching overload for 'dec()'; expected dec(string | int | double | Decimal)",
  ],
  [
    'dec("1", "2")',
    "refused: line 1, column 1: found no matching overload for 'dec(string, string)'; expected dec(string | int | double | Decimal)",
  ],
  [
    'dec(dimensions)',
    "refused: line 1, column 1: found no matching overload for 'dec(map<string, dyn>)'; expected dec(string | int | double | Decimal)",
  ],
  ['dec(dimensions.model)', 'fails: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec(dimensions.batch)', 'fails: line 1, column 1: dec() expects a number such as "0.25"'],
  ['dec(dimensions.absent)', 'fails: line 1, column 16: the event has no dimension absent'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});

it('reads a dimension that holds a number as text, and every digit of what no double holds', () => {
  const digits = '12345678901234567890.123456789012345678';
  const env = envWith({ quantity: decimal(digits), dimensions: new Map([['rate', digits]]) });
  expect(outcomeOf('dec(dimensions.rate)', 'amount', env)).toBe(digits);
  expect(outcomeOf('dec(item.quantity)', 'amount', env)).toBe(digits);
});
