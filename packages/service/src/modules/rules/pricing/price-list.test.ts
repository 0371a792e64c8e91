import type { PricingConfig, PricingRule } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalFromBigInt, parseDecimal } from '../../../kernel/decimal.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import {
  compileExpression,
  type DimensionValue,
  EventSteps,
  type ExpressionEnv,
} from '../expression/index.js';
import { RatingFailure } from '../extract/index.js';
import { compilePricing, priceListOf } from './index.js';

interface RuleSet {
  readonly id: string;
  readonly config: PricingConfig;
}

const DIMENSIONS = ['model', 'a.b', 'constructor', '__proto__', 'toString'];
/** Some look like numbers and truth values, which dimensions can also be. */
const TEXTS = ['gpt-4o', '1', '1.0', 'true', 'constructor', '__proto__', '', 'é"\\'];
const METRICS = ['tokens', 'calls', 'constructor'];

const envOf = (metric: string, dimensions: ReadonlyMap<string, DimensionValue>): ExpressionEnv => ({
  quantity: decimalFromBigInt(3n),
  unitPrice: undefined,
  metric,
  unit: 'token',
  dimensions,
  subject: undefined,
  occurredAt: 1_790_000_000,
  steps: new EventSteps(),
});

/**
 * Returns the rule found in the plainest way: sorted, tried one by one; a condition that cannot be computed does not
 * match.
 */
function oracle(ruleSets: readonly RuleSet[], env: ExpressionEnv): string | undefined {
  const rules = ruleSets.flatMap(({ id, config }) =>
    (config.rules ?? []).map((rule, position) => ({ id, rule, position })),
  );
  rules.sort((a, b) => {
    const [first, second] = [a.rule.priority ?? 0, b.rule.priority ?? 0];
    if (first !== second) return first - second;
    if (a.id !== b.id) return a.id < b.id ? -1 : 1;
    return a.position - b.position;
  });
  const found = rules.find(({ rule }) => rule.metric === env.metric && isMatch(rule.match_expr, env));
  return found && `${found.id} ${found.position}`;
}

function isMatch(source: string | undefined, env: ExpressionEnv): boolean {
  if (source === undefined) return true;
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) throw new Error(compiled.issue.message);
  try {
    return compiled.evaluate(env);
  } catch {
    return false;
  }
}

function indexed(ruleSets: readonly RuleSet[], env: ExpressionEnv): string | undefined {
  const pricings = ruleSets.map(({ id, config }) => {
    const result = compilePricing(config, { ruleSetId: id, version: 1 });
    if (!result.ok) throw new Error(JSON.stringify(result.issues));
    return result.pricing;
  });
  const found = priceListOf(pricings).ruleFor(env);
  if (found instanceof RatingFailure) throw new Error(found.message);
  return found && `${found.rule.origin.ruleSetId} ${found.rule.position}`;
}

const text = fc.constantFrom(...TEXTS);
const dimension = fc.constantFrom(...DIMENSIONS);
const reference = fc
  .tuple(dimension, fc.boolean())
  .map(([name, dotted]) => (dotted && /^\w+$/.test(name) ? `dimensions.${name}` : `dimensions["${name}"]`));
const equality = fc
  .tuple(reference, text, fc.boolean())
  .map(([left, right, swapped]) =>
    swapped ? `${JSON.stringify(right)} == ${left}` : `${left} == ${JSON.stringify(right)}`,
  );
const other = fc.oneof(
  fc.tuple(reference, text).map(([left, right]) => `${left} != ${JSON.stringify(right)}`),
  reference.map((left) => `${left} == 1`),
  reference.map((left) => `${left} == true`),
  reference.map((left) => `${left} > 0`),
  dimension.map((name) => `"${name}" in dimensions`),
  fc.constantFrom('true', 'false', '1 / 0 > 0', 'item.quantity > dec(2)', 'subject.id == "u"'),
);
const { match } = fc.letrec<{ match: string }>((tie) => ({
  match: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    equality,
    other,
    fc.tuple(tie('match'), tie('match')).map(([a, b]) => `(${a}) && (${b})`),
    fc.tuple(equality, tie('match')).map(([a, b]) => `${a} && (${b})`),
    fc.tuple(tie('match'), tie('match')).map(([a, b]) => `(${a}) || (${b})`),
    tie('match').map((a) => `!(${a})`),
  ),
}));
const rule: fc.Arbitrary<PricingRule> = fc
  .record({
    metric: fc.constantFrom(...METRICS),
    priority: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
    match_expr: fc.option(match, { nil: undefined, freq: 6 }),
  })
  .map(({ metric, priority, match_expr }) => ({
    metric,
    unit_price_expr: 'dec("1")',
    ...(priority === undefined ? {} : { priority }),
    ...(match_expr === undefined ? {} : { match_expr }),
  }));
const ruleSets = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('prs_1', 'prs_2', 'prs_3'),
    config: fc.array(rule, { maxLength: 8 }).map((rules) => ({ rules })),
  }),
  { selector: ({ id }) => id, maxLength: 3 },
);
const value: fc.Arbitrary<DimensionValue> = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.boolean(),
  fc.constantFrom('1', '1.0', '-2.5').map((number) => parseDecimal(number) ?? decimalFromBigInt(0n)),
);
const dimensions = fc
  .uniqueArray(fc.tuple(dimension, value), { selector: ([name]) => name })
  .map((entries) => new Map(entries));

describe('the rule that prices a charge item', () => {
  it('is the one that trying them in order finds, however they are stored', () => {
    fc.assert(
      fc.property(ruleSets, fc.array(dimensions, { minLength: 1, maxLength: 4 }), (sets, events) => {
        for (const metric of METRICS) {
          for (const event of events) {
            const env = envOf(metric, event);
            expect(indexed(sets, env)).toBe(oracle(sets, env));
          }
        }
      }),
      { numRuns: propertyRuns(250) },
    );
  });

  it('is the same whichever rule set comes first', () => {
    fc.assert(
      fc.property(ruleSets, dimensions, (sets, event) => {
        const env = envOf('tokens', event);
        expect(indexed(sets.toReversed(), env)).toBe(indexed(sets, env));
      }),
      { numRuns: 200 },
    );
  });

  const rules = (...configs: Partial<PricingRule>[]): RuleSet => ({
    id: 'prs_1',
    config: {
      rules: configs.map((config) => ({ metric: 'tokens', unit_price_expr: 'dec("1")', ...config })),
    },
  });
  const model = (name: DimensionValue) => envOf('tokens', new Map([['model', name]]));

  it('is a catch-all only where nothing before it matches', () => {
    const set = rules(
      { priority: 1 },
      { match_expr: 'dimensions.model == "a"', priority: 0 },
      { match_expr: 'dimensions.model == "b"', priority: 2 },
    );
    expect(indexed([set], model('a'))).toBe('prs_1 1');
    expect(indexed([set], model('b'))).toBe('prs_1 0');
    expect(indexed([set], envOf('tokens', new Map()))).toBe('prs_1 0');
    expect(indexed([set], envOf('calls', new Map()))).toBeUndefined();
  });

  it('does not take a number or a truth value for a text', () => {
    const set = rules(
      { match_expr: 'dimensions.model == "1"' },
      { match_expr: 'dimensions.model == "true"' },
    );
    expect(indexed([set], model('1'))).toBe('prs_1 0');
    expect(indexed([set], model(decimalFromBigInt(1n)))).toBeUndefined();
    expect(indexed([set], model(true))).toBeUndefined();
  });

  it('is found without trying the rules of other texts', () => {
    const set = rules(
      ...Array.from({ length: 500 }, (_, index) => ({
        match_expr: `dimensions.provider == "p" && dimensions.model == "m${index}" && item.quantity > dec("0")`,
      })),
    );
    const compiled = compilePricing(set.config);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
    let tried = 0;
    const counted = compiled.pricing.rules.map((each) => ({
      ...each,
      matches: (env: ExpressionEnv) => {
        tried += 1;
        return each.matches(env);
      },
    }));
    const list = priceListOf([{ ...compiled.pricing, rules: counted }]);
    const event = new Map([
      ['model', 'm321'],
      ['provider', 'p'],
    ]);
    expect([list.ruleFor(envOf('tokens', event)), tried]).toMatchObject([{ rule: { position: 321 } }, 1]);
  });
});
