import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from './testing.js';

const VECTORS = new URL('../../../../../../../shared/vectors/cel.json', import.meta.url);

interface Vector {
  readonly o: string;
  readonly e: string;
  /** A literal, or `error`: refused when it is saved, or failed for the event. */
  readonly want: string;
}

function vectors(): readonly Vector[] {
  if (!existsSync(VECTORS)) return [];
  return (JSON.parse(readFileSync(VECTORS, 'utf8')) as { cases: Vector[] }).cases;
}

function isAsWanted({ e, want }: Vector): boolean {
  if (want !== 'error') return outcomeOf(`(${e}) == (${want})`, 'match') === 'true';
  return /^(refused|fails): /.test(outcomeOf(`(${e}) == (${e})`, 'match'));
}

/** The language's own conformance cases, if the file exists; cases that differed once are repeated below. */
it('agrees with the conformance tests of CEL', () => {
  expect(vectors().filter((vector) => !isAsWanted(vector))).toEqual([]);
});

describe('as CEL has it', () => {
  it.each([
    ['a double that is an int past 2^53', 'double(9223372036854775807) == 9223372036854775808.0'],
    ['an int next to such a double', '!(dyn(9223372036854775807) < 9223372036854775808.0)'],
    ['such a double next to an int', 'dyn(9223372036854775808.0) <= 9223372036854775807'],
    ['a double without a digit before the point', '.5 == 0.5 && 1.5 - .25 == 1.25 && [.5][0] > -.5'],
    ['has() of an empty map', '!has({}.a)'],
    ['has() of a map that is written out', 'has({"a": {"b": 1}}.a.b) && !has({"a": 1}.b)'],
    ['an empty list before another', '[] + [3, 4] == [3, 4]'],
    ['an empty list after another', '[1] + [] + [2] == [1, 2] && [] + [] == []'],
    ['a macro over no elements', '[].all(x, x > 0) && ![].exists(x, x.size() > 0)'],
    ['a double as index', '[7, 8][dyn(1.0)] == 8'],
    ['white space as Unicode has it', '"\\u0085\\u00a0\\u1680a\\u2003".trim() == "a"'],
    ['what only looks like white space', '"\\u180ea\\ufeff".trim() == "\\u180ea\\ufeff"'],
  ])('%s', (_, source) => {
    expect(outcomeOf(source, 'match')).toBe('true');
  });

  it.each([
    ['an index between two', '[7, 8][dyn(0.5)] == 7', /expected an int as index/],
    ['an index below 0', '[7, 8][dyn(-1.0)] == 7', /no such key or index/],
    ['the double of the least int', 'int(-9223372036854775808.0) < 0', /can be converted/],
    ['a double that cannot hold its digits', '9007199254740993.0 > 1.0', /cannot hold these digits/],
    [
      'a decimal of a double with two readings',
      'dec(dyn(9223372036854775808.0)) > dec("1")',
      /dec\(\) expects/,
    ],
    ['has() of a list', 'has([1].a)', /field/],
    ['other keys in a map', '{1: 2}[1] == 2', /expected a string literal as key/],
  ])('%s is an error', (_, source, reason) => {
    expect(outcomeOf(source, 'match')).toMatch(/^(refused|fails): /);
    expect(outcomeOf(source, 'match')).toMatch(reason);
  });

  it('keeps places as they were written, though a digit is missing', () => {
    expect(outcomeOf('.5 > .25 &&\n  .5 > nothing', 'match')).toContain('refused: line 2, column 8: unknown');
    expect(outcomeOf('.5 > .25 && )', 'match')).toContain('refused: line 1, column 13: expected a value');
  });

  it('takes no more than 16 such doubles', () => {
    const list = (count: number) => `[${Array.from({ length: count }, () => '.5').join()}].size() > 0`;
    expect(outcomeOf(list(16), 'match')).toBe('true');
    expect(outcomeOf(list(17), 'match')).toContain('expected a value, found "."');
  });
});

describe('a number that is written where a decimal is expected', () => {
  it.each([
    ['0.0000015', '0.0000015'],
    ['.5', '0.5'],
    ['-0.5', '-0.5'],
    ['1e-7', '0.0000001'],
    ['0.12345678901234567890', '0.1234567890123456789'],
    ['dec(0.12345678901234567890)', '0.1234567890123456789'],
    ['dec(-9223372036854775808.0)', '-9223372036854775808'],
    ['0.1 + 0.2', '0.3'],
    ['item.quantity * 0.002', '3.001'],
    ['0.002 * item.quantity + 1.0', '4.001'],
    ['dec_mul(item.quantity, 0.002)', '3.001'],
    ['dec_div(1.0, 3.0, 2)', '0.33'],
    ['dimensions.batch == true ? 0.5 : 1.0', '0.5'],
    ['item.quantity > 0.1 ? item.quantity - 0.12345678901234567890 : 0.0', '1500.3765432109876543211'],
    ['{"gpt-4o": 0.0000025, "o3": 0.00001}[dimensions.model]', '0.0000025'],
    ['[0.1, 0.2][1]', '0.2'],
    ['dimensions.seats * 1e23', '350000000000000000000000'],
    ['2', '2'],
    ['-2', '-2'],
    ['dec(12345678901234567890)', '12345678901234567890'],
    ['item.quantity * 2 + 1', '3002'],
    ['item.quantity > 1000 ? 1 : 2.5', '1'],
    ['dec_mul(item.quantity, 2)', '3001'],
    ['dec_round(item.quantity, 0)', '1500'],
    ['{"gpt-4o": 2, "o3": 0.5}[dimensions.model]', '2'],
    ['tier_package(item.quantity, 10, 0.5)', '75.5'],
    ['tier_volume(item.quantity, [[null, 0.1]])', '150.05'],
  ])('%s is %s', (source, expected) => {
    expect(outcomeOf(source, 'amount')).toBe(expected);
  });

  it.each([
    ['double("0.5")', 'expected an expression of type Decimal, found double'],
    ['item.quantity * double("0.5")', 'no Decimal * double; expected Decimal, write dec(…)'],
    ['dec_mul(item.quantity, int("2"))', "found no matching overload for 'dec_mul(Decimal, int)'"],
    ['0x10', 'expected an expression of type Decimal, found int'],
    ['5 / 2', 'expected an expression of type Decimal, found int'],
    ['00.5', 'a double cannot hold these digits'],
    ['tier_package(item.quantity, 10, double("0.5"))', 'expected an int, a decimal string or a decimal'],
  ])('%s is refused', (source, reason) => {
    expect(outcomeOf(source, 'amount')).toContain(`refused: `);
    expect(outcomeOf(source, 'amount')).toContain(reason);
  });

  it('is compared by its digits', () => {
    const env = 'item.quantity - dec("1500.5") + dec("0.12345678901234567890")';
    expect(outcomeOf(`${env} == 0.12345678901234567890`, 'match')).toContain('cannot hold these digits');
    expect(outcomeOf('item.quantity >= 1500.5 && item.quantity < 1500.6', 'match')).toBe('true');
    expect(outcomeOf('dec("9223372036854775808") == dyn(9223372036854775808.0)', 'match')).toBe('true');
  });
});
