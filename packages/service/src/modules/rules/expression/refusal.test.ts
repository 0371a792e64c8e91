import { describe, expect, it } from 'vitest';
import type { CompiledExpression } from './compile-expression.js';
import { compileExpression } from './index.js';
import { refusalOf } from './testing.js';

const issueOf = (compiled: CompiledExpression<unknown>) => (compiled.ok ? undefined : compiled.issue);

describe('syntax', () => {
  it.each([
    ['', 'line 1, column 1: expected a value, found the end of the expression'],
    ['dec(', 'line 1, column 5: expected a value, found the end of the expression'],
    ['dec("1"', 'line 1, column 8: expected ")", found the end of the expression'],
    ['dec("1) ', 'line 1, column 5: unterminated string'],
    ['dec("1") dec("2")', 'line 1, column 10: unexpected character'],
    ['dec("1") # price', 'line 1, column 10: unexpected character: #'],
    ['dec("1")\n  + * dec("2")', 'line 2, column 5: expected a value, found "*"'],
    ['a = b', 'line 1, column 3: unexpected character: ='],
    ['dec("1" ; "2")', 'unexpected character: ;'],
    ['true ? dec("1")', 'expected ":", found the end of the expression'],
    ['[1, 2', 'expected "]", found the end of the expression'],
    ['import + 1', 'reserved identifier: import'],
    ['"\\q" == "q"', 'invalid escape sequence'],
  ])('%s', (source, reason) => {
    expect(refusalOf(source)).toContain(reason);
  });
});

describe('types', () => {
  it.each([
    ['size("a")', 'line 1, column 1: expected an expression of type Decimal, found int'],
    ['"1"', 'expected an expression of type Decimal, found string'],
    ['double("0.5")', 'expected an expression of type Decimal, found double'],
    ['true', 'expected an expression of type Decimal, found bool'],
    ['null', 'expected an expression of type Decimal, found null'],
    ['[dec("1")]', 'expected an expression of type Decimal, found list'],
    ['dimensions', 'expected an expression of type Decimal, found map'],
    ['dimensions.seats', 'expected an expression of type Decimal, found dyn; write dec(…) around it'],
    ['price + dec("1")', 'line 1, column 1: unknown variable: price; expected item, dimensions, subject or'],
    ['item.price', 'line 1, column 6: no such key: price'],
    ['item["price"]', 'no such key: price'],
    ['dec(dimension.seats)', 'line 1, column 5: unknown variable: dimension; did you mean dimensions?'],
    ['item.quantty', 'line 1, column 6: no such key: quantty; did you mean quantity?'],
    ['dec_ad(dec("1"), dec("2"))', '; did you mean dec_add(Decimal, Decimal)?'],
    ['subject.name == "x" ? dec("1") : dec("2")', 'no such key: name'],
    ['item', 'expected a field of item: quantity, metric, unit'],
    ['[item].size() > 0 ? dec("1") : dec("2")', 'expected a field of item'],
    ['price()', 'expected one of the documented functions'],
    ['true ? dec("1") : size("a")', 'ternary branches must have the same type'],
    ['"a" ? dec("1") : dec("2")', 'ternary condition must be bool'],
    ['dec("1") && true', 'requires bool operands'],
    ['has(dimensions) ? dec("1") : dec("2")', 'has() invalid argument'],
    ['has(item.price) ? dec("1") : dec("2")', 'item has no field price'],
    ['has(subject.name) ? dec("1") : dec("2")', 'subject has no field name'],
    ['[1, 2].map(x + 1, x)', 'invalid predicate iteration variable'],
    ['{"a": dec("1"), "a": dec("2")}["a"]', 'line 1, column 17: this key is already in the map'],
    ['([dec("1")] + dyn([1]))[1]', 'expected two lists of one type, found list<Decimal> and dyn'],
    ['true ? ([] + [1])[0] : dec("1")', 'ternary branches must have the same type'],
    ['([] + [1].filter(x, true))[0]', 'expected two lists of one type, found list<T> and list<int>'],
    ['{}.a > 1 ? dec("1") : dec("2")', 'the type of an operand is not known'],
    ['([dec("1")] + [dyn(1)])[1]', 'expected two lists of one type, found list<Decimal> and list<dyn>'],
    ['{1: dec("1")}[1]', 'line 1, column 2: expected a string literal as key'],
  ])('%s', (source, reason) => {
    expect(refusalOf(source)).toContain(reason);
  });

  it('wants a truth value of a match', () => {
    expect(refusalOf('dec("1")', 'match')).toContain('expected an expression of type bool, found Decimal');
    expect(refusalOf('dimensions.batch', 'match')).toContain('compare it, as in … == true');
  });

  it('knows the unit price in an amount only, and only where there is one', () => {
    const reason = 'line 1, column 6: item.unit_price is not known here; expected quantity, metric or unit';
    expect(refusalOf('item.unit_price', 'unit_price')).toBe(reason);
    expect(refusalOf('item.unit_price > dec("1")', 'match')).toBe(reason);
    expect(
      issueOf(compileExpression('item.unit_price', { kind: 'amount', hasUnitPrice: false }))?.message,
    ).toBe(reason);
    expect(compileExpression('item.unit_price', { kind: 'amount' }).ok).toBe(true);
  });

  it.each([
    'timestamp("2026-01-01T00:00:00Z") > timestamp(0)',
    'duration("1s") == duration("1s")',
    'type(1) == int',
    'b"abc" == b"abc"',
    '1u == 1u',
    'uint(1) == uint(1)',
    'bytes("a") == bytes("a")',
    'cel.bind(x, 1, x > 0)',
    'google.protobuf == google.protobuf',
    'dimensions.?model == "x"',
    'dimensions[?"model"] == "x"',
    'optional.of(1) == optional.of(1)',
  ])('%s is not supported', (source) => {
    expect(compileExpression(source, { kind: 'match' }).ok).toBe(false);
  });

  it('says line and column apart from the message', () => {
    expect(issueOf(compileExpression('dec("1") +\n  nothing', { kind: 'amount' }))).toEqual({
      line: 2,
      column: 3,
      message:
        'line 2, column 3: unknown variable: nothing; expected item, dimensions, subject or occurred_at',
    });
  });
});
