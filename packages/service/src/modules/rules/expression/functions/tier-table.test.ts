import { describe, expect, it } from 'vitest';
import { amountOf, decimal, envWith, refusalOf } from '../testing.js';

const SHAPE = 'expected tiers as [[up_to, unit_price], …], the last up_to may be null';
const RISING = 'up_to must rise from tier to tier, from more than 0';
const NUMBER = 'expected an int, a decimal string or a decimal';
const OPEN = 'only the last tier may have no bound';

describe.each(['tier_graduated', 'tier_volume'])('%s', (name) => {
  it.each([
    ['[]', SHAPE],
    ['[1]', SHAPE],
    ['["10"]', SHAPE],
    ['[[]]', SHAPE],
    ['[[1]]', SHAPE],
    ['[[1, 2, 3]]', SHAPE],
    ['[[10, "1"], 5]', SHAPE],
    ['[[100, "1"], [100, "2"]]', RISING],
    ['[[100, "1"], ["100.0", "2"]]', RISING],
    ['[[100, "1"], [50, "2"]]', RISING],
    ['[[0, "1"]]', RISING],
    ['[[0, "1"], [null, "2"]]', RISING],
    ['[[-1, "1"]]', RISING],
    ['[[null, "1"], [100, "2"]]', OPEN],
    ['[[null, "1"], [null, "2"]]', OPEN],
    ['[[100, null]]', NUMBER],
    ['[[double("1.5"), "1"]]', NUMBER],
    ['[[100, double("1.5")]]', NUMBER],
    ['[[100, "cheap"]]', NUMBER],
    ['[["", "1"]]', NUMBER],
    ['[["1e999", "1"]]', NUMBER],
    ['[[100, true]]', NUMBER],
    ['[[[100], "1"]]', NUMBER],
  ])('refuses %s', (tiers, reason) => {
    const column = `${name}(item.quantity, `.length + 1;
    expect(refusalOf(`${name}(item.quantity, ${tiers})`)).toBe(`line 1, column ${column}: ${reason}`);
  });

  it.each([
    ['item.quantity', `expected ${name}(Decimal, [[up_to, unit_price], …])`],
    ['item.quantity, 5', `expected ${name}(Decimal, [[up_to, unit_price], …])`],
    ['item.quantity, "[[null, 1]]"', `expected ${name}(Decimal, [[up_to, unit_price], …])`],
    ['int("5"), [[null, 1]]', `expected ${name}(Decimal, [[up_to, unit_price], …])`],
    ['item.quantity, dec("1")', `expected ${name}(Decimal, [[up_to, unit_price], …])`],
    ['dec("-1"), [[null, 1]]', 'expected a quantity of 0 or more'],
    ['dec("2"), [[1, 1]]', 'the quantity is past the bound of the last tier'],
  ])('refuses %s', (args, reason) => {
    expect(refusalOf(`${name}(${args})`)).toContain(reason);
  });

  it('reads bounds and prices by the digits that are written', () => {
    const tiers = '[[0.12345678901234567890, 0.0000015], [null, dimensions.batch == true ? 0.000002 : 3]]';
    const priced =
      amountOf(`${name}(dec("0.2"), ${tiers}) - ${name}(dec("0.2"), [["0.1234567890123456789", "0.0000015"],
      [null, "0.000002"]])`);
    expect(priced).toBe('0');
  });

  it('takes bounds and prices from the event, and fails where they are wrong', () => {
    const source = `${name}(item.quantity, [[dimensions.seats, "2"], [null, dec(dimensions.seats)]])`;
    expect(amountOf(source, envWith({ quantity: decimal('3') }))).toBe('6');
    const failing = (tiers: string) => amountOf(`${name}(item.quantity, ${tiers})`);
    expect(failing('[[dimensions.model, "2"]]')).toContain(`fails: line 1, column`);
    expect(failing('[[dimensions.model, "2"]]')).toContain(NUMBER);
    expect(failing('[[5, "1"], [dimensions.seats, "2"]]')).toContain(RISING);
    expect(failing('[[1, dimensions.batch]]')).toContain(NUMBER);
    expect(failing('dyn([dimensions.seats])')).toContain(SHAPE);
  });

  it('fails what grows out of range', () => {
    const env = envWith({ quantity: decimal('1e300') });
    expect(amountOf(`${name}(item.quantity, [[null, "1e200"]])`, env)).toBe(
      'fails: line 1, column 1: the decimal is out of range: more than 400 digits',
    );
  });
});
