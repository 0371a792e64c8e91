import { describe, expect, it } from 'vitest';
import { amountOf, decimal, envWith, refusalOf } from '../testing.js';

const of = (quantity: string) => envWith({ quantity: decimal(quantity) });

const TABLE = '[[100, "0.10"], ["1000", dec("0.05")], [null, 0]]';

describe('tier_graduated', () => {
  it.each([
    ['0', '0'],
    ['1', '0.1'],
    ['99.5', '9.95'],
    ['100', '10'],
    ['100.01', '10.0005'],
    ['1000', '55'],
    ['1000000', '55'],
  ])('of %s is %s', (quantity, expected) => {
    expect(amountOf(`tier_graduated(item.quantity, ${TABLE})`, of(quantity))).toBe(expected);
  });
});

describe('tier_volume', () => {
  it.each([
    ['0', '0'],
    ['100', '10'],
    ['100.01', '5.0005'],
    ['1000', '50'],
    ['1000.000000000000000001', '0'],
  ])('of %s is %s', (quantity, expected) => {
    expect(amountOf(`tier_volume(item.quantity, ${TABLE})`, of(quantity))).toBe(expected);
  });
});

describe('tier_package', () => {
  it.each([
    ['0', '0'],
    ['0.001', '2.5'],
    ['999.999', '2.5'],
    ['1000', '2.5'],
    ['1000.000000000000000001', '5'],
    ['1400', '5'],
    ['1600', '5'],
    ['2000', '5'],
    ['2001', '7.5'],
  ])('of %s is %s', (quantity, expected) => {
    expect(amountOf('tier_package(item.quantity, 1000, "2.50")', of(quantity))).toBe(expected);
  });

  it('takes sizes that are no whole numbers', () => {
    expect(amountOf('tier_package(item.quantity, "0.3", dec("1"))', of('0.9'))).toBe('3');
    expect(amountOf('tier_package(item.quantity, "0.3", dec("1"))', of('0.91'))).toBe('4');
  });
});

describe('tables', () => {
  it('may depend on the event', () => {
    const source = 'tier_volume(item.quantity, [[dimensions.seats, "2"], [null, "1"]])';
    expect(amountOf(source, { ...envWith(), quantity: decimal('3') })).toBe('6');
    expect(amountOf(source, { ...envWith(), quantity: decimal('4') })).toBe('4');
    const wrong = 'tier_volume(item.quantity, [[dimensions.model, "2"]])';
    expect(amountOf(wrong)).toMatch(/^fails: .*expected an int, a decimal string or a decimal/);
  });

  it('fails the event whose quantity is past the last bound, or negative', () => {
    for (const name of ['tier_graduated', 'tier_volume']) {
      expect(amountOf(`${name}(item.quantity, [[1000, "1"]])`)).toBe(
        'fails: line 1, column 1: the quantity is past the bound of the last tier',
      );
      expect(amountOf(`${name}(-item.quantity, [[null, "1"]])`)).toMatch(/expected a quantity of 0 or more/);
    }
    expect(amountOf('tier_package(-item.quantity, 10, 1)')).toMatch(/expected a quantity of 0 or more/);
  });

  it.each([
    ['[]', 'expected tiers as [[up_to, unit_price], …]'],
    ['[1]', 'expected tiers as'],
    ['[[1]]', 'expected tiers as'],
    ['[[1, 2, 3]]', 'expected tiers as'],
    ['[[100, "1"], [100, "2"]]', 'up_to must rise'],
    ['[[100, "1"], [50, "2"]]', 'up_to must rise'],
    ['[[0, "1"]]', 'up_to must rise from tier to tier, from more than 0'],
    ['[[-1, "1"]]', 'up_to must rise'],
    ['[[null, "1"], [100, "2"]]', 'only the last tier may have no bound'],
    ['[[100, null]]', 'expected an int, a decimal string or a decimal'],
    ['[[1.5, "1"]]', 'expected an int, a decimal string or a decimal'],
    ['[[100, "cheap"]]', 'expected an int, a decimal string or a decimal'],
    ['[[100, true]]', 'expected an int, a decimal string or a decimal'],
  ])('%s is refused', (tiers, reason) => {
    expect(refusalOf(`tier_graduated(item.quantity, ${tiers})`)).toContain(`line 1, column 31: ${reason}`);
    expect(refusalOf(`tier_volume(item.quantity, ${tiers})`)).toContain(reason);
  });

  it.each([
    ['tier_package(item.quantity, 0, "1")', 'line 1, column 29: expected a size of more than 0'],
    ['tier_package(item.quantity, "-5", "1")', 'expected a size of more than 0'],
    ['tier_package(item.quantity, 1.5, "1")', 'expected an int, a decimal string or a decimal'],
    [
      'tier_package(item.quantity, 10, "x")',
      'line 1, column 33: expected an int, a decimal string or a decimal',
    ],
    ['tier_graduated(item.quantity, 5)', 'expected tier_graduated(Decimal, [[up_to, unit_price], …])'],
    ['tier_graduated(5, [[null, 1]])', 'expected tier_graduated(Decimal, [[up_to, unit_price], …])'],
  ])('%s is refused', (source, reason) => {
    expect(refusalOf(source)).toContain(reason);
  });
});
