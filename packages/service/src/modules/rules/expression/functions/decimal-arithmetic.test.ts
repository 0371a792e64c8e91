import { describe, expect, it } from 'vitest';
import { amountOf, decimal, envWith, matchOf, refusalOf } from '../testing.js';

describe('functions', () => {
  it.each([
    ['dec_add(dec("0.1"), dec("0.2"))', '0.3'],
    ['dec_sub(dec("0.1"), dec("0.3"))', '-0.2'],
    ['dec_mul(item.quantity, item.unit_price)', '3.001'],
    ['dec_mul(item.quantity, dec("0.000002"))', '0.003001'],
    ['dec_mul(dec("-0.5"), dec("0.5"))', '-0.25'],
    ['dec_div(dec("1"), dec("3"), 4)', '0.3333'],
    ['dec_div(dec("1"), dec("8"), 2)', '0.12'],
    ['dec_div(dec("3"), dec("8"), 2)', '0.38'],
    ['dec_div(dec("-1"), dec("8"), 2)', '-0.12'],
    ['dec_div(item.quantity, dec("1000"), 38)', '1.5005'],
    ['dec_neg(item.quantity)', '-1500.5'],
    ['dec_neg(dec("0"))', '0'],
    ['dec_abs(dec("-2.50"))', '2.5'],
    ['dec_abs(dec("2.5"))', '2.5'],
    ['dec_min(dec("2"), dec("-3"))', '-3'],
    ['dec_max(item.quantity, dec("2000"))', '2000'],
    ['dec_max(dec("1.0"), dec("1"))', '1'],
    ['dec_mul(dimensions.seats, dec("2"))', '7'],
    ['dec_add(dyn(1), dyn(0.5))', '1.5'],
  ])('%s is %s', (source, expected) => {
    expect(amountOf(source)).toBe(expected);
  });

  it.each([
    [
      'dec_add(dec("1"), 1)',
      "found no matching overload for 'dec_add(Decimal, int)'; expected dec_add(Decimal, Decimal)",
    ],
    ['dec_mul(item.quantity)', 'expected dec_mul(Decimal, Decimal)'],
    ['dec_mul("1", "2")', 'expected dec_mul(Decimal, Decimal)'],
    ['dec_div(dec("1"), dec("2"))', 'expected dec_div(Decimal, Decimal, scale)'],
    ['dec_div(dec("1"), dec("2"), 2.0)', 'expected dec_div(Decimal, Decimal, scale)'],
    ['dec_div(dec("1"), dec("2"), -1)', 'expected a scale from 0 to 38 fraction digits'],
    ['dec_div(dec("1"), dec("2"), 39)', 'expected a scale from 0 to 38 fraction digits'],
    ['dec_div(item.quantity, dec("0.00"), 2)', 'line 1, column 24: division by zero'],
    ['dec_div(item.quantity, dec("3"), 39)', 'line 1, column 34: expected a scale from 0 to 38'],
    ['dec_add(dyn("1"), dec("1"))', 'expected a decimal'],
  ])('%s is refused', (source, reason) => {
    expect(refusalOf(source)).toContain(reason);
  });

  it('fails the event where only the event shows the mistake', () => {
    expect(amountOf('dec_add(dimensions.model, dec("1"))')).toBe(
      'fails: line 1, column 20: expected a decimal',
    );
    expect(amountOf('dec_div(dec("1"), dimensions.seats - dec("3.5"), 2)')).toBe(
      'fails: line 1, column 1: division by zero',
    );
  });

  it('never grows without bound', () => {
    const quantity = decimal(`1e${300}`);
    expect(amountOf('dec_mul(item.quantity, item.quantity)', envWith({ quantity }))).toMatch(
      /^fails: line 1, column 1: the decimal is out of range/,
    );
  });
});

describe('operators', () => {
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
    ['item.quantity + 1', 'line 1, column 17: no Decimal + int; expected Decimal, write dec(…)'],
    ['2 * item.quantity', 'line 1, column 1: no int * Decimal; expected Decimal, write dec(…)'],
    [
      'item.quantity / dec("2")',
      'no such overload: Decimal / Decimal; expected dec_div(Decimal, Decimal, scale)',
    ],
    ['item.quantity + "1"', 'no such overload: Decimal + string; expected two decimals, write dec(…)'],
  ])('%s is refused', (source, reason) => {
    expect(refusalOf(source)).toContain(reason);
  });

  it('refuses comparisons of a decimal with a number that was written out', () => {
    expect(refusalOf('item.quantity > 1000', 'match')).toBe(
      'line 1, column 17: no Decimal > int; expected Decimal, write dec(…)',
    );
  });
});
