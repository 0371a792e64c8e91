import { describe, expect, it } from 'vitest';
import { amountOf, decimal, envWith, refusalOf } from '../testing.js';

describe('dec', () => {
  it.each([
    ['dec("0.000002")', '0.000002'],
    ['dec("-3")', '-3'],
    ['dec("1e-7")', '0.0000001'],
    ['dec("12345678901234567890.123456789012345678")', '12345678901234567890.123456789012345678'],
    ['dec(5)', '5'],
    ['dec(-9223372036854775808)', '-9223372036854775808'],
    ['dec(0x10)', '16'],
    ['dec(0.1)', '0.1'],
    ['dec(1e3)', '1000'],
    ['dec(item.quantity)', '1500.5'],
    ['dec(dimensions.seats)', '3.5'],
    ['dec(size("four"))', '4'],
  ])('%s is %s', (source, expected) => {
    expect(amountOf(source)).toBe(expected);
  });

  it('reads a dimension that holds a number as text', () => {
    const env = envWith({ dimensions: new Map([['rate', '0.25']]) });
    expect(amountOf('dec(dimensions.rate)', env)).toBe('0.25');
  });

  it.each([
    'dec("")',
    'dec(" 1")',
    'dec("1,5")',
    'dec("0x10")',
    'dec("Infinity")',
    'dec("1_000")',
    `dec("${'9'.repeat(1_500)}")`,
    'dec("1e999999999")',
    'dec(1.0 / 0.0)',
  ])('%s is refused', (source) => {
    expect(refusalOf(source)).toBe('line 1, column 1: dec() expects a number such as "0.25"');
  });

  it.each(['dec(true)', 'dec(null)', 'dec([1])', 'dec()', 'dec("1", "2")'])('%s is refused', (source) => {
    expect(refusalOf(source)).toContain('expected dec(string | int | double | Decimal)');
  });

  it('fails an event whose dimension is no number', () => {
    expect(amountOf('dec(dimensions.model)')).toBe(
      'fails: line 1, column 1: dec() expects a number such as "0.25"',
    );
    expect(amountOf('dec(dimensions.batch)')).toMatch(/^fails: /);
  });

  it('holds every digit of a quantity that no double holds', () => {
    const quantity = decimal('12345678901234567890.1');
    expect(amountOf('dec(item.quantity)', envWith({ quantity }))).toBe('12345678901234567890.1');
  });
});
