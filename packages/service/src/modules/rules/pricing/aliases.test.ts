import type { PricingAlias, PricingConfig, PricingRule } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf, itemsOf, pricingOf, rate } from '../testing.js';
import { DimensionAliases, fitsPattern } from './aliases.js';
import { compilePricing } from './index.js';

describe('a pattern', () => {
  it.each<[string, string, boolean]>([
    ['gpt-5', 'gpt-5', true],
    ['gpt-5', 'gpt-5-mini', false],
    ['gpt-5', 'my-gpt-5', false],
    ['gpt-5*', 'gpt-5', true],
    ['gpt-5-20*', 'gpt-5-2025-08-07', true],
    ['gpt-5-20*', 'gpt-5-mini-2025-08-07', false],
    ['*/gemini', 'models/gemini', true],
    ['*/gemini', 'gemini', false],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*bc*c', 'abc', false],
    ['*', '', true],
    ['**', 'any', true],
    ['a.c', 'abc', false],
    ['a?c', 'abc', false],
    ['[a-z]+', 'a', false],
    ['é*', 'é\n', true],
  ])('%s of %s: %s', (pattern, text, fits) => {
    expect(fitsPattern(pattern, text)).toBe(fits);
  });

  it('fits what the same regular expression would', () => {
    const letters = (unit: string) => fc.string({ unit: fc.constantFrom(...unit), maxLength: 12 });
    fc.assert(
      fc.property(letters('ab*'), letters('ab'), (pattern, text) => {
        expect(fitsPattern(pattern, text)).toBe(
          new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 's').test(text),
        );
      }),
    );
  });

  it('is found among thousands as it is by trying all', () => {
    const letters = (unit: string) =>
      fc.string({ unit: fc.constantFrom(...unit), minLength: 1, maxLength: 5 });
    const entries = fc.array(fc.record({ owner: fc.nat(2), pattern: letters('ab*') }), { maxLength: 30 });
    fc.assert(
      fc.property(entries, letters('ab'), (all, value) => {
        const placed = all.map(({ owner, pattern }, position) => {
          return { owner, position, alias: { dimension: 'm', pattern, value: 'v' } };
        });
        const expected = [0, 1, 2].flatMap((owner) => {
          return placed
            .filter((each) => each.owner === owner && fitsPattern(each.alias.pattern, value))
            .slice(0, 1);
        });
        const aliases = new DimensionAliases(placed);
        const found = aliases.find(value);
        expect(found.matches.toSorted((a, b) => a.owner - b.owner)).toEqual(expected);
        expect(aliases.find(value)).toEqual(found);
      }),
    );
  });
});

const EXTRACTOR = {
  dimensions: [
    { name: 'model', path: 'model', type: 'string' as const },
    { name: 'tier', path: 'tier', type: 'string' as const },
  ],
  charge_item_extractors: [
    { metric: 'in', path: 'in', type: 'number' as const },
    { metric: 'out', path: 'out', type: 'number' as const },
  ],
};
const rule = (name: string, match: string | undefined, rest: Partial<PricingRule> = {}): PricingRule => ({
  name,
  metric: 'in',
  ...(match === undefined ? {} : { match_expr: match }),
  unit_price_expr: 'dec("1")',
  ...rest,
});
const alias = (pattern: string, value: string, dimension = 'model'): PricingAlias => ({
  dimension,
  pattern,
  value,
});
const is = (model: string) => `dimensions.model == "${model}"`;

/** Returns the rule that prices an event of this model, or null. */
function ruleFor(configs: readonly PricingConfig[], event: object): unknown {
  const pricings = configs.map((config, index) => pricingOf(config, `prs_${index}`));
  const [item] = itemsOf(rate(EXTRACTOR, JSON.stringify({ in: 1, ...event }), {}, pricings));
  return item?.ruleName;
}

describe('an alias', () => {
  const MINI: PricingConfig = {
    rules: [rule('mini', is('gpt-5-mini')), rule('dated', is('gpt-5-mini-2099-01-01'))],
    aliases: [alias('gpt-5-mini-20*', 'gpt-5-mini'), alias('openai/gpt-5-mini', 'gpt-5-mini')],
  };

  it.each<[string, string]>([
    ['gpt-5-mini', 'mini'],
    ['gpt-5-mini-2025-08-07', 'mini'],
    ['openai/gpt-5-mini', 'mini'],
    ['gpt-5-mini-2099-01-01', 'dated'],
    ['gpt-5-mini-search', ''],
    ['azure/gpt-5-mini', ''],
  ])('finds for %s the rule "%s"', (model, expected) => {
    expect(ruleFor([MINI], { model })).toBe(expected);
  });

  it('leaves a name to a rule of another rule set that matches it, whatever their priorities', () => {
    const exact = { rules: [rule('exact', is('gpt-5-mini-2025-08-07'), { priority: 1_000 })] };
    expect(ruleFor([MINI, exact], { model: 'gpt-5-mini-2025-08-07' })).toBe('exact');
  });

  it('leaves a name to a rule that matches it in another way', () => {
    const config = {
      ...MINI,
      rules: [...(MINI.rules ?? []), rule('any', 'dimensions.model.startsWith("gpt-")')],
    };
    expect(ruleFor([config], { model: 'gpt-5-mini-2025-08-07' })).toBe('any');
  });

  it.each<[number, string]>([
    [-1, 'rest'],
    [1, 'mini'],
  ])('comes in order with a rule for all names, of priority %d', (priority, expected) => {
    const rules = [...(MINI.rules ?? []), rule('rest', undefined, { priority })];
    expect(ruleFor([{ ...MINI, rules }], { model: 'gpt-5-mini-2025-08-07' })).toBe(expected);
  });

  it('is that of its rule set alone', () => {
    const other = { rules: [rule('discount', is('gpt-5-mini'), { priority: -5 })] };
    expect(ruleFor([other, MINI], { model: 'gpt-5-mini-2025-08-07' })).toBe('mini');
  });

  it('counts by its place: the first that fits', () => {
    const rules = [rule('a', is('a')), rule('b', is('b'))];
    expect(ruleFor([{ rules, aliases: [alias('x*', 'b'), alias('xy', 'a')] }], { model: 'xy' })).toBe('b');
  });

  it('is not applied to what an alias stands for', () => {
    const rules = [rule('c', is('c'))];
    expect(ruleFor([{ rules, aliases: [alias('a', 'b'), alias('b', 'c')] }], { model: 'a' })).toBe('');
  });

  it('is applied to several dimensions at once, and none to an absent one', () => {
    const config = {
      rules: [rule('both', `${is('a')} && dimensions.tier == "priority"`)],
      aliases: [alias('A', 'a'), alias('*', 'priority', 'tier')],
    };
    expect(ruleFor([config], { model: 'A', tier: 'ON_DEMAND_PRIORITY' })).toBe('both');
    expect(ruleFor([config], { model: 'A' })).toBe('');
  });

  it('leaves only the dimensions that the rule without aliases reads', () => {
    const config = {
      rules: [
        rule('dated, priority', `${is('a-2025')} && dimensions.tier == "priority"`),
        rule('dated', is('a-2025')),
        rule('any, priority', `${is('a')} && dimensions.tier == "priority"`, { priority: -1 }),
      ],
      aliases: [alias('a-20*', 'a'), alias('fast*', 'priority', 'tier')],
    };
    expect(ruleFor([config], { model: 'a-2025', tier: 'fast-1' })).toBe('dated, priority');
    expect(ruleFor([config], { model: 'a-2025', tier: 'slow' })).toBe('dated');
    expect(ruleFor([config], { model: 'a-2026', tier: 'fast-1' })).toBe('any, priority');
  });

  it('is seen by the price of the rule, and recorded nowhere', () => {
    const config = {
      rules: [rule('a', is('a'), { unit_price_expr: 'dimensions.model == "a" ? dec("2") : dec("3")' })],
      aliases: [alias('A', 'a')],
    };
    const rated = rate(EXTRACTOR, '{"in": 1, "model": "A"}', {}, [pricingOf(config)]);
    expect(itemsOf(rated)[0]).toMatchObject({ amount: '2' });
    expect(rated.dimensions.get('model')).toBe('A');
  });

  it('is applied to each metric by itself', () => {
    const config = {
      rules: [rule('in', is('A')), rule('out', is('a'), { metric: 'out' })],
      aliases: [alias('A', 'a')],
    };
    const rated = rate(EXTRACTOR, '{"in": 1, "out": 1, "model": "A"}', {}, [pricingOf(config)]);
    expect(itemsOf(rated).map(({ ruleName }) => ruleName)).toEqual(['in', 'out']);
  });
});

describe('what is wrong with aliases is named where it stands', () => {
  it.each<[PricingAlias[], string, string]>([
    [[alias('a', 'b', '1x')], 'aliases[0].dimension', 'expected text that matches'],
    [[alias('*a'.repeat(9), 'b')], 'aliases[0].pattern', 'at most 8 stars (ALIAS_STARS_MAX)'],
    [[alias('a', 'b'), alias('a', 'c')], 'aliases[1].pattern', 'already used by aliases[0]'],
  ])('%j', (aliases, path, message) => {
    expect(compilePricing({ rules: [], aliases })).toMatchObject({
      ok: false,
      issues: [{ path, message: expect.stringContaining(message) }],
    });
  });
});

it('hostile patterns take steps of the event that meets them, whether remembered or not', () => {
  const aliases = Array.from({ length: 1_000 }, (_, n) => alias(`*a*a*a*a*a*a*a${n}`, 'x'));
  const pricings = Array.from({ length: 50 }, (_, n) =>
    pricingOf({ rules: [rule('r', is('x'))], aliases }, `prs_${n}`),
  );
  const event = JSON.stringify({ in: 1, model: 'a'.repeat(100) });
  const results = [0, 1].map(() => failureOf(rate(EXTRACTOR, event, {}, pricings)));
  expect(results).toEqual([
    ['pricing_failed', 'aliases'],
    ['pricing_failed', 'aliases'],
  ]);
});
