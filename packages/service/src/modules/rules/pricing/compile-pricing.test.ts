import type { PricingConfig, PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { compilePricing } from './index.js';

const rule = (fields: Partial<PricingRule> = {}): PricingRule => ({
  metric: 'llm.tokens',
  unit_price_expr: 'dec("1")',
  ...fields,
});

function issuesOf(config: PricingConfig): [string, string][] {
  const result = compilePricing(config);
  return result.ok ? [] : result.issues.map(({ path, message }) => [path, message]);
}

const compiled = (config: PricingConfig) => {
  const result = compilePricing(config, { ruleSetId: 'prs_1', version: 2 });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.pricing;
};

describe('what does not save', () => {
  it.each<[string, PricingConfig, string, string]>([
    ['a currency', { currency: 'usd' }, 'currency', 'expected a code such as USD'],
    ['a metric', { rules: [rule({ metric: 'LLM' })] }, 'rules[0].metric', 'expected text that matches'],
    ['a match that is no bool', { rules: [rule({ match_expr: '1 + 1' })] }, 'rules[0].match_expr', 'line 1'],
    [
      'a match that does not parse',
      { rules: [rule({ match_expr: '\n1 ==' })] },
      'rules[0].match_expr',
      'line 2',
    ],
    [
      'a match by the unit price, which is not known yet',
      { rules: [rule({ match_expr: 'item.unit_price > dec(1)' })] },
      'rules[0].match_expr',
      'item.unit_price is not known here',
    ],
    [
      'a price that is not a decimal',
      { rules: [rule(), rule({ unit_price_expr: '"1"' })] },
      'rules[1].unit_price_expr',
      'expected an expression of type Decimal, found string',
    ],
    [
      'an amount by a unit price that the rule does not have',
      { rules: [{ metric: 'a', amount_expr: 'item.unit_price' }] },
      'rules[0].amount_expr',
      'item.unit_price is not known here',
    ],
    [
      'a constant price that cannot be recorded',
      { rules: [rule({ unit_price_expr: 'dec("100000000000000000000")' })] },
      'rules[0].unit_price_expr',
      'does not fit 20 integer digits',
    ],
    [
      'a rule without a price',
      { rules: [{ metric: 'a' }] },
      'rules[0]',
      'expected unit_price_expr, amount_expr',
    ],
    [
      'a name that is used twice',
      { rules: [rule({ name: 'a' }), rule(), rule({ name: 'a' })] },
      'rules[2].name',
      'the name a is already used by rules[0]',
    ],
  ])('%s', (_, config, path, message) => {
    expect(issuesOf(config)).toEqual([[path, expect.stringContaining(message)]]);
  });

  it('is reported all at once, in the order of the configuration', () => {
    const config = { currency: '$', rules: [{ metric: '' }, rule({ match_expr: 'x', amount_expr: 'true' })] };
    expect(issuesOf(config).map(([path]) => path)).toEqual([
      'currency',
      'rules[0].metric',
      'rules[0]',
      'rules[1].match_expr',
      'rules[1].amount_expr',
    ]);
  });
});

describe('what saves', () => {
  it('may be empty, and have a currency of its own', () => {
    expect(compiled({})).toEqual({ origin: { ruleSetId: 'prs_1', version: 2 }, rules: [], aliases: [] });
    const { rules } = compiled({ currency: 'CREDITS_2', rules: [rule()] });
    expect(rules[0]?.pricing.currency).toBe('CREDITS_2');
  });

  it('has defaults: currency USD, priority 0, the metric as name', () => {
    const { rules } = compiled({ rules: [rule()] });
    expect(rules).toMatchObject([{ name: 'llm.tokens', priority: 0, pricing: { currency: 'USD' } }]);
  });

  it('has names that distinguish its rules', () => {
    const { rules } = compiled({
      rules: [rule(), rule(), rule({ metric: 'a' }), rule({ name: 'b' }), rule({ metric: 'b' })],
    });
    expect(rules.map(({ name }) => name)).toEqual(['rules[0]', 'rules[1]', 'a', 'b', 'rules[4]']);
  });
});
