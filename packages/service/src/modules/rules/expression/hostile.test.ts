import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../../kernel/decimal.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import { compileExpression, ExpressionError, type ExpressionKind, FUNCTIONS } from './index.js';
import { amountOf, decimal, envWith, matchOf, refusalOf } from './testing.js';

describe('refused when it is saved', () => {
  it.each([
    ['a source of 2 KiB and one byte', `dec("1")${' '.repeat(2_041)}`, 'expected at most 2048 bytes'],
    [
      'a source of few characters and many bytes',
      `"${'€'.repeat(700)}" == ""`,
      'expected at most 2048 bytes',
    ],
    ['a million digits', `dec(${'9'.repeat(1_000_000)})`, 'expected at most 2048 bytes'],
    ['two thousand digits', `dec(${'9'.repeat(2_000)})`, 'expected an int of 64 bits'],
    ['two thousand digits of text', `dec("${'9'.repeat(2_000)}")`, 'dec() expects a number'],
    [
      'a double that loses digits',
      'dec(double("1")) + dec(dyn(0.1234567890123456789))',
      'a double cannot hold these digits; write dec("…")',
    ],
    ['a double that vanishes', 'dec(dyn(1e-400))', 'a double cannot hold these digits'],
    ['a double that overflows', 'dec(1e400)', 'invalid number'],
    ['a huge exponent as text', 'dec("1e999999999")', 'dec() expects a number'],
    ['an int of 65 bits', 'dec(dyn(9223372036854775808))', 'expected an int of 64 bits'],
    ['deep parentheses', `${'('.repeat(1_000)}dec("1")${')'.repeat(1_000)}`, 'nested too deeply'],
    ['deep calls', `${'dec('.repeat(300)}1${')'.repeat(300)}`, 'nested too deeply'],
    ['deep indexes', `dimensions${'["a"]'.repeat(300)}`, 'nested too deeply'],
    ['deep negation', `${'-'.repeat(2_000)}dec("1")`, 'nested more than 250 deep'],
    ['deep lists', `${'['.repeat(60)}1${']'.repeat(60)}`, 'lists and maps are nested more than 3 deep'],
    ['long sums', `${'1+'.repeat(1_000)}1`, 'nested more than 250 deep'],
    ['deep ternaries', `${'true?1:'.repeat(250)}1`, 'nested too deeply'],
  ])('%s', (_, source, reason) => {
    expect(refusalOf(source)).toContain(reason);
  });

  it.each([
    ['nested macros', '[1].exists(x, [1].exists(y, y == x))', 'a macro inside another one is not supported'],
    ['a macro over a macro', '[1].map(x, x).exists(y, y == 1)', 'a macro inside another one'],
    ['deep inversion', `${'!'.repeat(2_000)}true`, 'nested more than 250 deep'],
    ['a slow pattern', '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("^(a+)+$")', 'matches() is not supported'],
    [
      'a pattern on a dimension',
      'dimensions.model.matches(dimensions.pattern)',
      'matches() is not supported',
    ],
    ['a bound variable', 'cel.bind(x, [1, 2, 3], x == x)', 'bind() is not supported'],
    ['a prototype by name', '__proto__ == null', 'reserved identifier'],
    [
      'a method of an object',
      'dimensions.hasOwnProperty("model")',
      'expected one of the documented functions',
    ],
    ['a constructor', '"".constructor("return 1") == 1', 'expected one of the documented functions'],
    ['a type that cannot be inferred', '{}.a > 1', 'the type of an operand is not known'],
    ['a constructor of a decimal', 'item.quantity.constructor == 1', 'a Decimal has no fields'],
    ['a part of a decimal', 'item.quantity.coefficient == 1', 'a Decimal has no fields'],
  ])('%s', (_, source, reason) => {
    expect(refusalOf(source, 'match')).toContain(reason);
  });
});

describe('patterns, which can take longer than any bound', () => {
  it.each([
    'dimensions.model.matches("a")',
    'dimensions["model"].matches("a")',
    'dimensions\n . model\n . matches ( "a" )',
    '"a".matches("a")',
    'dyn("a").matches("a")',
    '(true ? "a" : "b").matches(dimensions.model)',
    'string(item.quantity).matches("^1")',
    '["a"].exists(x, x.matches("a"))',
    'false && dimensions.model.matches("a")',
    'matches("a", "a")',
    'matches(dimensions.model, "^(a+)+$")',
    're.matches("a", "a")',
    're.extract("a", "a") == "a"',
    'regex.extract("a", "a") == "a"',
    'dimensions.model.find("a") == "a"',
    'dimensions.model.findAll("a") == ["a"]',
    'dimensions.model.replace("a", "b") == "a"',
  ])('%s is refused', (source) => {
    expect(refusalOf(source, 'match')).toMatch(
      /not supported|expected one of the documented|unknown variable/,
    );
  });
});

describe('bounded when it is evaluated', () => {
  it('a macro over a long list', () => {
    const list = `[${'1,'.repeat(400)}1]`;
    expect(matchOf(`${list}.all(x, x == 1)`)).toBe('true');
    const work = Array.from({ length: 60 }, () => 'x>0').join('&&');
    expect(matchOf(`${list}.all(x, ${work})`)).toContain('the expression takes more than 10000 steps');
  });

  it('decimals that grow with every multiplication', () => {
    const source = `${'dec_mul('.repeat(40)}item.quantity${', item.quantity)'.repeat(40)}`;
    expect(amountOf(source, envWith({ quantity: decimal('1234567890.123456789') }))).toMatch(
      /^fails: .*the decimal is out of range/,
    );
  });

  it('text that grows with every addition', () => {
    const env = envWith({ dimensions: new Map([['long', 'x'.repeat(4_000)]]) });
    expect(matchOf(`${'dimensions.long + '.repeat(60)}"" == ""`, env)).toContain('at most 4096 characters');
  });

  it('does not reach inherited properties of values', () => {
    for (const name of ['constructor', '__proto__', 'length', 'size', 'toString', 'coefficient']) {
      expect(matchOf(`dimensions.model.${name} == "x"`)).toMatch(/^fails/);
      expect(matchOf(`dyn([1]).${name} == "x"`)).toMatch(/^fails/);
      expect(matchOf(`dyn({"a": 1})["${name}"] == "x"`)).toMatch(/^fails/);
      expect(matchOf(`dimensions.seats.${name} == "x"`)).toMatch(/^fails/);
    }
  });
});

/** Sources made of pieces of the language, most of them wrong. */
const pieces = [
  ...[
    'item',
    'quantity',
    'unit_price',
    'metric',
    'dimensions',
    'model',
    'seats',
    'subject',
    'id',
    'occurred_at',
  ],
  ...[
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '?',
    '!',
    '-',
    '+',
    '*',
    '/',
    '%',
    '"',
    '"a"',
    "'",
    '\n',
    ' ',
  ],
  ...[
    '==',
    '!=',
    '<',
    '>=',
    '&&',
    '||',
    ' in ',
    '1',
    '0',
    '0.5',
    '1e9',
    '9223372036854775807',
    'null',
    'true',
  ],
  ...[
    'x',
    '.exists(x, ',
    '.map(x, ',
    '.all(x, ',
    'has(',
    'cel',
    'type(',
    'int',
    '__proto__',
    'constructor',
    '\\',
  ],
  ...FUNCTIONS.map(({ name, method }) => (method ? `.${name}(` : `${name}(`)),
  ...[
    'dec("1.5")',
    'item.quantity',
    'dimensions.model',
    'dimensions.seats',
    '[[1, "2"], [null, 3]]',
    ', 2)',
    ')',
  ],
];

it('refuses or computes whatever is written, and throws nothing but its own error', () => {
  const source = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 60 }),
  );
  const kind = fc.constantFrom<ExpressionKind>('unit_price', 'amount', 'match');
  fc.assert(
    fc.property(source, kind, (text, of) => {
      const compiled = compileExpression(text, { kind: of });
      if (!compiled.ok) {
        expect(compiled.issue.message).toMatch(/^line \d+, column \d+: ./);
        return;
      }
      try {
        const result = compiled.evaluate(envWith());
        expect(of === 'match' ? typeof result === 'boolean' : result instanceof Decimal).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError);
      }
    }),
    { numRuns: propertyRuns(1_250) },
  );
});
