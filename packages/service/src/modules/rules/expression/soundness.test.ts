import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../testing/property-runs.js';
import { compileExpression, ExpressionError } from './index.js';
import { envWith } from './testing.js';

/** Expressions of one type: some complete, and some with holes for others, written as `<type>`. */
interface Shapes {
  readonly leaves: readonly string[];
  readonly templates: readonly string[];
}

const ARITHMETIC = ['+', '-', '*', '/', '%'];
const COMPARISONS = ['==', '!=', '<', '<=', 'in'];

/** By type; `dyn` is a type that the type check does not know. */
const GRAMMAR = {
  any: { leaves: ['1'], templates: ['<dyn>', '<decimal>', '<int>', '<bool>', '<list>', '<map>'] },
  dyn: {
    leaves: [
      'dimensions.model',
      'dimensions.seats',
      'dimensions.batch',
      'dyn(1)',
      'dyn("a")',
      'dyn([1])',
      'x',
    ],
    templates: [
      ...['dyn(<any>)', '<list>[<int>]', '<map>.a', '<map>["a"]', '-<dyn>', '(<bool> ? <any> : <dyn>)'],
      ...ARITHMETIC.flatMap((operator) => [`(<dyn> ${operator} <any>)`, `(<any> ${operator} <dyn>)`]),
    ],
  },
  decimal: {
    leaves: ['dec("1.5")', 'item.quantity', 'dec(2)'],
    templates: [
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
  },
  int: {
    leaves: ['0', '1', '9223372036854775807', 'occurred_at'],
    templates: ['int(<any>)', 'size(<any>)', 'dec_cmp(<decimal>, <dyn>)', '(<int> / <dyn>)', '<dyn>.size()'],
  },
  bool: {
    leaves: ['true', 'dimensions.batch == true', 'has(dimensions.region)'],
    templates: [
      ...COMPARISONS.flatMap((operator) => [`(<any> ${operator} <any>)`, `(<dyn> ${operator} <any>)`]),
      ...['(<bool> && <dyn>)', '(<dyn> || <bool>)', '!<dyn>', '<dyn>.contains(<dyn>)'],
      ...['<list>.exists(x, <bool>)', '<dyn>.all(x, <dyn>)', '<map>.exists_one(x, <bool>)'],
    ],
  },
  list: {
    leaves: ['[]', '[1]', '["a"]', '[dec("1")]'],
    templates: [
      ...['[<any>, <any>]', '(<list> + <list>)', '(<list> + <dyn>)'],
      ...['<list>.map(x, <any>)', '<dyn>.filter(x, <bool>)'],
    ],
  },
  map: { leaves: ['dimensions', '{}', '{"a": dec("1")}'], templates: ['{"a": <any>, "b": <any>}'] },
} as const satisfies Record<string, Shapes>;

type Sources = Record<keyof typeof GRAMMAR, string>;

const sources = fc.letrec<Sources>((tie: fc.LetrecTypedTie<Sources>) => {
  const filled = (template: string) => {
    const holes = [...template.matchAll(/<(\w+)>/g)].map(([, name]) => tie(name as keyof Sources));
    return fc.tuple(...holes).map((parts) => {
      let next = 0;
      return template.replace(/<\w+>/g, () => parts[next++] as string);
    });
  };
  const arbitrary = ({ leaves, templates }: Shapes) =>
    fc.oneof({ maxDepth: 3 }, fc.constantFrom(...leaves), ...templates.map(filled));
  const entries = Object.entries(GRAMMAR).map(([type, shapes]) => [type, arbitrary(shapes)]);
  return Object.fromEntries(entries) as { [Type in keyof Sources]: fc.Arbitrary<string> };
});

/**
 * cel-js's types are not always right: wherever they may be wrong, the expression must be refused or checked for each
 * event.
 */
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
    { numRuns: propertyRuns(1_250) },
  );
  expect(evaluated).toBeGreaterThan(100);
});
