import { describe, expect, it } from 'vitest';
import { compileExpression } from './index.js';
import { amountOf, decimal, envWith, matchOf } from './testing.js';

describe('variables', () => {
  it.each([
    ['item.metric == "llm.input_tokens"', 'true'],
    ['item.unit == "token"', 'true'],
    ['item["metric"] == item.metric', 'true'],
    ['subject.type == "user" && subject.id == "u-1"', 'true'],
    ['occurred_at == 1790000000', 'true'],
    ['occurred_at / 86400 > 20000', 'true'],
    ['dimensions.model == "gpt-4o"', 'true'],
    ['dimensions["service-tier"] == "flex"', 'true'],
    ['dimensions["mod" + "el"] == "gpt-4o"', 'true'],
    ['dimensions.batch == true', 'true'],
    ['dimensions.batch && true', 'true'],
    ['dimensions.model == 5', 'false'],
    ['dimensions.model != dimensions.batch', 'true'],
  ])('%s is %s', (source, expected) => {
    expect(matchOf(source)).toBe(expected);
  });

  it('fails where the event has no such dimension or no subject', () => {
    expect(matchOf('dimensions.region == "eu"')).toBe(
      'fails: line 1, column 12: the event has no dimension region',
    );
    expect(matchOf('true &&\n  dimensions.region == "eu"')).toContain('line 2, column 14:');
    expect(matchOf('subject.id == "u-1"', envWith({ subject: undefined }))).toContain(
      'the event has no subject',
    );
    expect(amountOf('item.unit_price', envWith({ unitPrice: undefined }))).toContain('no unit price');
  });

  it('throws the same error again, so that a million events do not collect a million stacks', () => {
    const compiled = compileExpression('dimensions.region == "eu"', { kind: 'match' });
    if (!compiled.ok) throw new Error(compiled.issue.message);
    const thrown = [1, 2].map(() => {
      try {
        return compiled.evaluate(envWith());
      } catch (error) {
        return error;
      }
    });
    expect(thrown[0]).toBe(thrown[1]);
    expect((thrown[0] as Error).stack).not.toContain('at ');
  });

  it('takes names that JavaScript objects inherit as ordinary ones', () => {
    expect(matchOf('dimensions.constructor == "ford"')).toBe('true');
    for (const name of ['toString', 'hasOwnProperty', '__proto__', 'valueOf', '__defineGetter__']) {
      expect(matchOf(`has(dimensions.${name})`)).toBe('false');
      expect(matchOf(`"${name}" in dimensions`)).toBe('false');
      expect(matchOf(`dimensions.${name} == "x"`)).toBe(
        `fails: line 1, column 12: the event has no dimension ${name}`,
      );
      const env = envWith({ dimensions: new Map([[name, 'x']]) });
      expect(matchOf(`dimensions.${name} == "x" && has(dimensions.${name})`, env)).toBe('true');
    }
  });
});

describe('has and in', () => {
  it.each([
    ['has(dimensions.model)', 'true'],
    ['has(dimensions.region)', 'false'],
    ['"service-tier" in dimensions', 'true'],
    ['"region" in dimensions', 'false'],
    ['dimensions.model in ["gpt-4o", "o3"]', 'true'],
    ['dimensions.seats in [1, 3.5]', 'true'],
    ['item.quantity in [dec("1500.50")]', 'true'],
    ['"a" in {"a": 1}', 'true'],
    ['has(subject.id)', 'true'],
    ['has(item.quantity) && !has(item.unit_price)', 'true'],
    ['null in [null]', 'true'],
  ])('%s is %s', (source, expected) => {
    expect(matchOf(source)).toBe(expected);
  });

  it('knows of an event without a subject', () => {
    expect(matchOf('has(subject.id)', envWith({ subject: undefined }))).toBe('false');
  });

  it('knows where the unit price is known', () => {
    const source = 'has(item.unit_price) ? item.unit_price : dec("0")';
    expect(amountOf(source)).toBe('0.002');
    expect(amountOf(source, envWith({ unitPrice: undefined }))).toBe('0');
  });

  it('fails on a field of what is no map', () => {
    expect(matchOf('has(dimensions.model.name)')).toContain('has() expects a field of a map');
  });
});

describe('logic', () => {
  it.each([
    ['dimensions.region == "eu" || true', 'true'],
    ['true || dimensions.region == "eu"', 'true'],
    ['dimensions.region == "eu" && false', 'false'],
    ['false && dimensions.region == "eu"', 'false'],
    ['1 / 0 > 0 || true', 'true'],
    ['!(1 / 0 > 0 && false)', 'true'],
    ['true ? true : dimensions.region == "eu"', 'true'],
    ['dimensions.model == "x" ? 1 / 0 > 0 : true', 'true'],
  ])('%s is %s', (source, expected) => {
    expect(matchOf(source)).toBe(expected);
  });

  it.each([
    'dimensions.region == "eu" || false',
    'false || dimensions.region == "eu"',
    'dimensions.region == "eu" && true',
    'true && dimensions.region == "eu"',
    'dimensions.region == "eu" ? true : true',
  ])('%s fails', (source) => {
    expect(matchOf(source)).toContain('the event has no dimension region');
  });

  it('wants truth values, also where the type is known only now', () => {
    expect(matchOf('dimensions.model || false')).toBe('fails: line 1, column 12: expected bool');
    expect(matchOf('dimensions.model || true')).toBe('true');
    expect(matchOf('!dimensions.model')).toContain('expected bool');
    expect(amountOf('dimensions.model ? dec("1") : dec("2")')).toContain('expected bool');
  });
});

describe('ints and doubles', () => {
  it.each([
    ['7 / 2 == 3 && -7 / 2 == -3', 'true'],
    ['7 % 2 == 1 && -7 % 2 == -1', 'true'],
    ['1 + 2 * 3 == 7', 'true'],
    ['-9223372036854775808 < 9223372036854775807', 'true'],
    ['1 < 1.5 && 2.5 > 2', 'true'],
    ['0.1 + 0.2 > 0.3', 'true'],
    ['1.0 / 4.0 == 0.25', 'true'],
    ['0x10 == 16', 'true'],
    ['false < true', 'true'],
    ['-(-3) == 3', 'true'],
  ])('%s is %s', (source, expected) => {
    expect(matchOf(source)).toBe(expected);
  });

  it.each([
    ['9223372036854775807 + 1 > 0', 'the int overflows 64 bits'],
    ['-9223372036854775808 - 1 < 0', 'the int overflows 64 bits'],
    ['9223372036854775807 * 2 > 0', 'the int overflows 64 bits'],
    ['-(-9223372036854775807 - 1) > 0', 'the int overflows 64 bits'],
    ['1 / 0 > 0', 'division by zero'],
    ['1 % 0 > 0', 'division by zero'],
    ['dyn(1) + dyn("a") == 1', 'expected two numbers, strings or lists of one type for +'],
    ['dyn(1) - dyn(1.5) == 1', 'expected numbers of one type for -'],
    ['dyn("a") < dyn(1)', 'expected two numbers or two strings to compare'],
    ['-dimensions.model == 1', 'expected a number'],
    ['dimensions.seats / 2 == 1', 'expected numbers of one type for /'],
  ])('%s fails: %s', (source, reason) => {
    expect(matchOf(source)).toContain(`fails: line 1, column 1: ${reason}`);
  });
});

describe('lists, maps and macros', () => {
  it.each([
    ['[1, 2][1] == 2', 'true'],
    ['[1, 2] + [3] == [1, 2, 3]', 'true'],
    ['[1, "a"] == [1, "a"]', 'true'],
    ['[1] == [1, 2]', 'false'],
    ['{"a": 1, "b": 2} == {"b": 2, "a": 1}', 'true'],
    ['{"a": 1} == {"a": 2}', 'false'],
    ['{"a": null}.a == null', 'true'],
    ['{"gpt-4o": 1}[dimensions.model] == 1', 'true'],
    ['["gpt", "claude"].exists(p, dimensions.model.startsWith(p))', 'true'],
    ['[1, 2, 3].all(x, x > 1)', 'false'],
    ['[].all(x, x == 1)', 'true'],
    ['[1, 2, 3].exists_one(x, x > 2)', 'true'],
    ['[1, 2, 3].exists_one(x, x > 1)', 'false'],
    ['[1, 2, 3].filter(x, x != 2) == [1, 3]', 'true'],
    ['[1, 2, 3].map(x, x * 2) == [2, 4, 6]', 'true'],
    ['[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]', 'true'],
    ['dimensions.exists(name, name == "model")', 'true'],
    ['dimensions.all(name, size(name) > 4)', 'true'],
    ['[dimensions, dimensions].exists(d, d.model == "gpt-4o")', 'true'],
    ['[1].exists(item, item == 1)', 'true'],
    ['[1].exists(dimensions, dimensions == 1)', 'true'],
    ['[0, 1].exists(x, 1 / x == 1)', 'true'],
    ['[0, 1].all(x, 1 / x == 2)', 'false'],
    ['[1].exists(x, has(dimensions.model))', 'true'],
    ['[1, 2].exists(x, x == 1) && [1, 2].exists(y, y == 2)', 'true'],
  ])('%s is %s', (source, expected) => {
    expect(matchOf(source)).toBe(expected);
  });

  it.each([
    ['[0, 1].exists(x, 1 / x == 3)', 'division by zero'],
    ['[0, 1].all(x, 1 / x == 1)', 'division by zero'],
    ['[0, 1].exists_one(x, 1 / x == 1)', 'division by zero'],
    ['[1, 2][2] == 1', 'there is no such key or index'],
    ['[1, 2][-1] == 1', 'there is no such key or index'],
    ['{"a": 1}.b == 1', 'there is no such key or index'],
    ['dimensions.model.name == 1', 'expected a map or list to take an element of'],
    ['dimensions.model.exists(x, x == "g")', 'expected a list or map to go through'],
    ['1 in dimensions.model', 'expected a list or map after in'],
  ])('%s fails: %s', (source, reason) => {
    expect(matchOf(source)).toContain(reason);
  });

  it('looks a price up in a map', () => {
    const source = '{"gpt-4o": dec("0.01"), "o3": dec("0.04")}[dimensions.model]';
    expect(amountOf(source)).toBe('0.01');
    expect(amountOf(source, envWith({ dimensions: new Map([['model', 'o4']]) }))).toContain('no such key');
  });
});

describe('constants', () => {
  const constantOf = (source: string) => {
    const compiled = compileExpression(source, { kind: 'amount' });
    return compiled.ok ? compiled.constant?.toString() : compiled.issue.message;
  };

  it.each([
    ['dec("0.000002")', '0.000002'],
    ['dec("2") * dec("3") + dec_div(dec("1"), dec("4"), 2)', '6.25'],
    ['1 > 2 ? dec("1") : dec("2")', '2'],
    ['tier_package(dec("11"), 10, 3)', '6'],
    ['{"a": dec("1")}["a"]', '1'],
  ])('%s is computed when it is saved', (source, expected) => {
    expect(constantOf(source)).toBe(expected);
  });

  it.each(['item.quantity', 'dec(dimensions.seats)', 'dec(occurred_at)', 'dec(subject.id)'])(
    '%s is not',
    (source) => {
      expect(constantOf(source)).toBeUndefined();
    },
  );

  it('does not let one event see another', () => {
    const compiled = compileExpression('[1, 2].exists(x, dec(x) == item.quantity)', { kind: 'match' });
    if (!compiled.ok) throw new Error(compiled.issue.message);
    expect(compiled.evaluate(envWith({ quantity: decimal('2') }))).toBe(true);
    expect(compiled.evaluate(envWith({ quantity: decimal('3') }))).toBe(false);
  });
});
