import type { PricingConfig } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { items, itemsOf, pricingOf, rate } from './testing.js';

const PRICED = items({ unit_price_expr: 'dec("2")', currency: 'EUR' });
const costOf = (rules: PricingConfig['rules'], more: PricingConfig = {}) =>
  pricingOf({ currency: 'USD', rules: rules ?? [], ...more }, 'prs_cost', 4);
const ONE = 10n ** 18n;

describe('the cost of a charge item', () => {
  it('is that of the first cost rule that matches, beside the price', () => {
    const costs = [
      costOf([
        { name: 'never', metric: 'tokens', match_expr: 'false', unit_price_expr: 'dec("9")' },
        { name: 'small', metric: 'tokens', unit_price_expr: 'dec("5")', pricing_unit: '10' },
      ]),
      pricingOf({ rules: [{ metric: 'tokens', amount_expr: 'dec("7")' }] }, 'prs_later', 1),
    ];
    expect(itemsOf(rate(PRICED, '{"n": 3}', {}, [], costs))).toMatchObject([
      {
        unitPrice: '2',
        amount: '6',
        currency: 'EUR',
        pricingSource: 'extractor',
        cost: {
          amount: (3n * ONE) / 2n,
          currency: 'USD',
          ruleSetId: 'prs_cost',
          ruleSetVersion: 4,
          ruleName: 'small',
        },
      },
    ]);
  });

  it('is null when no cost rule matches, and price rules give none', () => {
    const prices = [pricingOf({ rules: [{ metric: 'tokens', unit_price_expr: 'dec("2")' }] })];
    const costs = [costOf([{ metric: 'calls', amount_expr: 'dec("1")' }])];
    for (const [given, rules] of [
      [prices, []],
      [prices, costs],
    ] as const)
      expect(itemsOf(rate(items({}), '{"n": 3}', {}, given, rules))).toMatchObject([
        { amount: '6', pricingSource: 'pricing_rule_set', cost: null },
      ]);
  });

  it.each<[string, Parameters<typeof rate>[2], string]>([
    ['without a price', {}, 'unpriced'],
    ['priced by a hint', { billing: { pricing_hints: { tokens: { unit_price: '1' } } } }, 'hint'],
    ['sent in x-billing', { billing: { items: [{ metric: 'tokens', quantity: '3' }] } }, 'unpriced'],
  ])('is given to a charge item %s, too', (_, sent, pricingSource) => {
    const costs = [costOf([{ metric: 'tokens', unit_price_expr: 'dec("0.5")' }])];
    expect(itemsOf(rate(items({}), '{"n": 3}', sent, [], costs))).toMatchObject([
      { pricingSource, cost: { amount: (3n * ONE) / 2n } },
    ]);
  });

  it('is not discounted', () => {
    const costs = [costOf([{ metric: 'tokens', unit_price_expr: 'dec("1")' }])];
    const billing = { discount_hints: { tokens: { percent: '50' } } };
    expect(itemsOf(rate(PRICED, '{"n": 4}', { billing }, [], costs))).toMatchObject([
      { amount: '4', discount: '4', cost: { amount: 4n * ONE } },
    ]);
  });

  it('is found by the aliases of its own rule set', () => {
    const match_expr = 'dimensions.model == "m"';
    const costs = [
      costOf([{ metric: 'tokens', match_expr, unit_price_expr: 'dec("1")' }], {
        aliases: [{ dimension: 'model', pattern: 'm-*', value: 'm' }],
      }),
    ];
    const config = { ...PRICED, dimensions: [{ name: 'model', path: 'model', type: 'string' as const }] };
    expect(itemsOf(rate(config, '{"n": 4, "model": "m-2026"}', {}, [], costs))).toMatchObject([
      { cost: { amount: 4n * ONE } },
    ]);
  });
});

describe('a cost rule that cannot be computed', () => {
  const broken = costOf([{ metric: 'tokens', unit_price_expr: 'dec(dimensions.rate)' }]);

  it('leaves its charge item without a cost, and a note that says why', () => {
    const rated = rate(PRICED, '{"n": 3}', {}, [], [broken]);
    expect(itemsOf(rated)).toMatchObject([{ amount: '6', cost: null }]);
    expect(rated).toMatchObject({
      ok: true,
      notes: [
        {
          code: 'cost_failed',
          metric: 'tokens',
          path: 'rules[0].unit_price_expr',
          message: expect.stringMatching(/^Pricing rule set prs_cost: /),
        },
      ],
    });
  });

  it('is also one that has a counter, in a test of rules', () => {
    const cumulative = { counter: 'tokens', period: 'month', per: 'project' as const };
    const counted = costOf([{ metric: 'tokens', cumulative, total_expr: 'total.quantity' }]);
    expect(rate(PRICED, '{"n": 3}', {}, [], [counted])).toMatchObject({
      ok: true,
      items: [{ cost: null }],
      notes: [
        { code: 'cost_failed', path: 'rules[0].total_expr', message: expect.stringContaining('counter') },
      ],
    });
  });

  it('does not fail an event that may not be unpriced', () => {
    const rated = rate({ ...PRICED, on_unpriced: 'fail' }, '{"n": 3}', {}, [], [broken]);
    expect(rated.ok).toBe(true);
  });
});

describe('the steps of costs', () => {
  /** Takes 10,805 steps and does not match. */
  const costly = `[${'0,'.repeat(449)}0].exists(x, x > 1)`;
  const tooMany = (metric: string) =>
    Array.from({ length: 30 }, () => ({ metric, match_expr: costly, unit_price_expr: 'dec("1")' }));

  it('are those of the event, and prices come first', () => {
    const config = items({ metric: 'tokens' }, { metric: 'calls', path: 'm', unit_price_expr: 'dec("3")' });
    const costs = [costOf([...tooMany('tokens'), ...tooMany('calls')])];
    const rated = rate(config, '{"n": 3, "m": 2}', {}, [], costs);
    expect(itemsOf(rated)).toMatchObject([
      { metric: 'tokens', cost: null },
      { metric: 'calls', amount: '6', cost: null },
    ]);
    expect(rated.ok && rated.notes.map(({ code, metric }) => [code, metric])).toEqual([
      ['cost_failed', 'tokens'],
      ['cost_failed', 'calls'],
    ]);
    expect(rated.ok && rated.notes[0]?.message).toContain('EVENT_STEPS_MAX');
  });
});
