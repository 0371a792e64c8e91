import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileExpression, ExpressionError } from './index.js';
import { envWith } from './testing.js';

type Tie = fc.LetrecTypedTie<Sources>;

/** Sources of each type; `dyn` is what the type check knows nothing of. */
interface Sources {
  any: string;
  dyn: string;
  decimal: string;
  int: string;
  bool: string;
  list: string;
  map: string;
}

/** A leaf, or a template whose holes, written as `<type>`, are filled. */
function oneOf(tie: Tie, leaves: readonly string[], templates: readonly string[]): fc.Arbitrary<string> {
  const filled = templates.map((template) => {
    const holes = [...template.matchAll(/<(\w+)>/g)].map(([, name]) => tie(name as keyof Sources));
    return fc.tuple(...holes).map((parts) => {
      let next = 0;
      return template.replace(/<\w+>/g, () => parts[next++] as string);
    });
  });
  return fc.oneof({ maxDepth: 3 }, fc.constantFrom(...leaves), ...filled);
}

const operators = ['+', '-', '*', '/', '%'];
const comparisons = ['==', '!=', '<', '<=', 'in'];

const sources = fc.letrec<Sources>((tie: Tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    tie('dyn'),
    tie('decimal'),
    tie('int'),
    tie('bool'),
    tie('list'),
    tie('map'),
  ),
  dyn: oneOf(
    tie,
    ['dimensions.model', 'dimensions.seats', 'dimensions.batch', 'dyn(1)', 'dyn("a")', 'dyn([1])', 'x'],
    [
      ...['dyn(<any>)', '<list>[<int>]', '<map>.a', '<map>["a"]', '-<dyn>', '(<bool> ? <any> : <dyn>)'],
      ...operators.flatMap((operator) => [`(<dyn> ${operator} <any>)`, `(<any> ${operator} <dyn>)`]),
    ],
  ),
  decimal: oneOf(
    tie,
    ['dec("1.5")', 'item.quantity', 'dec(2)'],
    [
      ...[
        'dec(<any>)',
        'dec_add(<dyn>, <decimal>)',
        'dec_min(<decimal>, <dyn>)',
        'dec_round(<decimal>, <int>)',
      ],
      ...[
        'dec_div(<decimal>, <dyn>, 2)',
        '(<bool> ? <decimal> : <decimal>)',
        '(<bool> ? <decimal> : <list>[0])',
      ],
      ...['[<decimal>, <any>][0]', '<list>[0]', '<map>.a', 'tier_package(<decimal>, <any>, <any>)'],
      ...[
        'tier_volume(<decimal>, [[<any>, <any>], [null, <any>]])',
        '(<dyn> * <decimal>)',
        '(<decimal> - <dyn>)',
      ],
    ],
  ),
  int: oneOf(
    tie,
    ['0', '1', '9223372036854775807', 'occurred_at'],
    [
      'int(<any>)',
      'size(<any>)',
      'dec_cmp(<decimal>, <dyn>)',
      '(<int> / <dyn>)',
      '(<int> * <int>)',
      '<dyn>.size()',
    ],
  ),
  bool: oneOf(
    tie,
    ['true', 'dimensions.batch == true', 'has(dimensions.region)'],
    [
      ...comparisons.flatMap((operator) => [`(<any> ${operator} <any>)`, `(<dyn> ${operator} <any>)`]),
      ...['(<bool> && <dyn>)', '(<dyn> || <bool>)', '!<dyn>', '<dyn>.contains(<dyn>)'],
      ...['<list>.exists(x, <bool>)', '<dyn>.all(x, <dyn>)', '<map>.exists_one(x, <bool>)'],
    ],
  ),
  list: oneOf(
    tie,
    ['[]', '[1]', '["a"]', '[dec("1")]'],
    [
      '[<any>, <any>]',
      '(<list> + <list>)',
      '(<list> + <dyn>)',
      '<list>.map(x, <any>)',
      '<dyn>.filter(x, <bool>)',
    ],
  ),
  map: oneOf(tie, ['dimensions', '{}', '{"a": dec("1")}'], ['{"a": <any>, "b": <any>}']),
}));

/** cel-js's types do not always hold: what they may be wrong about has to be refused, or looked at for each event. */
it('yields a value of the type that was checked, or fails as an expression', () => {
  let evaluated = 0;
  const check = (source: string, kind: 'amount' | 'match') => {
    const compiled = compileExpression(source, { kind });
    if (!compiled.ok) return;
    evaluated++;
    try {
      compiled.evaluate(envWith());
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError);
      expect((error as Error).message).not.toContain('although the type check found no mistake');
    }
  };
  fc.assert(
    fc.property(sources.decimal, sources.bool, (decimal, bool) => {
      check(decimal, 'amount');
      check(bool, 'match');
    }),
    { numRuns: 5_000 },
  );
  expect(evaluated).toBeGreaterThan(100);
});
