import { describe, expect, it } from 'vitest';
import { axisNumber, axisTimes, decimal, decimalShort, decimalSignificant, money } from './format.js';

describe('decimals', () => {
  it.each([
    ['0', '0'],
    ['1234567.5', '1,234,567.5'],
    ['-1234.25', '-1,234.25'],
    ['0.123456789012', '0.123456789012'],
    ['0.1234567890123', '0.123456789012…'],
    ['12345678901234567890.000000000000000001', '12,345,678,901,234,567,890.000000000000…'],
  ])('%s is shown as %s', (text, shown) => {
    expect(decimal(text)).toBe(shown);
  });

  it('are cut to cents, never rounded up', () => {
    expect(decimalShort('9.999')).toBe('9.99');
    expect(decimalShort('1000')).toBe('1,000');
  });

  it.each([
    ['0', '0'],
    ['0.00', '0'],
    ['30', '30'],
    ['1234567.5', '1,234,567.50'],
    ['12.123456789012', '12.12'],
    ['-3.999', '-3.99'],
    ['5.001', '5.00'],
    ['0.5', '0.50'],
    ['0.123456', '0.123'],
    ['-0.00045678', '-0.000456'],
    ['0.000000000000000001', '0.000000000000000001'],
  ])('%s has the significant digits %s', (text, shown) => {
    expect(decimalSignificant(text)).toBe(shown);
  });

  it('carry their currency', () => {
    expect([money('1.5', 'USD'), money('1.5', null)]).toEqual(['1.5 USD', '1.5']);
  });
});

it('writes numbers of an axis as short as they can be', () => {
  expect([0, 0.00423, 12.5, 1_234, 2_500_000].map(axisNumber)).toEqual([
    '0',
    '0.00423',
    '12.5',
    '1.2K',
    '2.5M',
  ]);
});

it('writes days where they begin, in the timezone of the board', () => {
  const midnightInKathmandu = Date.UTC(2026, 10, 19, 18, 15) / 1_000;
  const times = [midnightInKathmandu, midnightInKathmandu + 3_600];
  expect(axisTimes(times, 3_600, 'Asia/Kathmandu')).toEqual(['20 Nov', '01:00']);
  expect(axisTimes(times, 86_400, 'UTC')).toEqual(['19 Nov', '19 Nov']);
  expect(axisTimes(times, 28 * 86_400, 'UTC')).toEqual(['Nov 2026', 'Nov 2026']);
});
