import type { PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { priceGridOf, withGridPrice, withoutGridRow, withPastedPrices } from './price-grid.js';

const METRICS = ['llm.input_tokens', 'llm.output_tokens'];
const million = { pricing_unit: '1000000' };
const rule = (model: string, metric: string, price: string): PricingRule => ({
  name: `${model} ${metric}`,
  metric,
  match_expr: `dimensions.model == "${model}"`,
  unit_price_expr: `dec("${price}")`,
  ...million,
});
const gridOf = (rules: readonly PricingRule[]) => priceGridOf(rules, METRICS, ['region', 'model']);
const RULES: readonly PricingRule[] = [
  {
    metric: 'llm.input_tokens',
    match_expr: 'dimensions.region == "eu"',
    unit_price_expr: 'dec("9")',
    ...million,
  },
  rule('large', 'llm.input_tokens', '3'),
  rule('large', 'llm.output_tokens', '15'),
  { ...rule('small', 'llm.input_tokens', '0.25'), pricing_unit: 1_000_000, unit_price_expr: '0.25' },
  { metric: 'llm.input_tokens', priority: 100, unit_price_expr: 'dec("1")', ...million },
];

describe('the grid of model prices', () => {
  it('reads prices of a million units by model, and counts other rules', () => {
    const grid = gridOf(RULES);
    expect(grid).toMatchObject({
      dimension: 'model',
      rows: ['large', 'small', null],
      metrics: METRICS,
      otherCount: 1,
    });
    expect(grid.rows.map((row) => METRICS.map((metric) => grid.priceAt(row, metric)))).toEqual([
      ['3', '15'],
      ['0.25', ''],
      ['1', ''],
    ]);
  });

  it.each([
    { ...rule('a', 'm', '1'), pricing_unit: '3' },
    { ...rule('a', 'm', '1'), pricing_unit: '0' },
    { ...rule('a', 'm', '1'), amount_expr: 'item.quantity * item.unit_price' },
    { ...rule('a', 'm', '1'), match_expr: 'dimensions.model == "a" && dimensions.batch == true' },
    { ...rule('a', 'm', '1'), match_expr: 'dimensions.model != "a"' },
    { ...rule('a', 'm', '1'), unit_price_expr: 'dec(dimensions.price)' },
  ])('leaves out %j', (other) => {
    expect(gridOf([other])).toMatchObject({ rows: [], otherCount: 1 });
  });

  it('shows prices of other units per million, and rewrites them when they change', () => {
    const perUnit: PricingRule = { metric: 'm', unit_price_expr: 'dec("0.00000125")' };
    const rules = [perUnit, { ...rule('a', 'm', '0.5'), pricing_unit: 1_000 }];
    const grid = gridOf(rules);
    expect([grid.priceAt(null, 'm'), grid.priceAt('a', 'm')]).toEqual(['1.25', '500']);
    expect(withGridPrice(rules, grid, { row: null, metric: 'm', price: '2' })[0]).toEqual({
      ...{ metric: 'm', unit_price_expr: 'dec("2")', pricing_unit: '1000000' },
    });
  });

  it('shows the first of two rules for a cell, which applies', () => {
    const grid = gridOf([rule('a', 'm', '1'), rule('a', 'm', '2')]);
    expect([grid.priceAt('a', 'm'), grid.otherCount]).toEqual(['1', 1]);
  });

  it('changes, adds and removes rules, and leaves all others as they are', () => {
    const set = (row: string | null, metric: string, price: string) =>
      withGridPrice(RULES, gridOf(RULES), { row, metric, price });
    expect(set('large', 'llm.input_tokens', '4')).toEqual(
      RULES.with(1, rule('large', 'llm.input_tokens', '4')),
    );
    expect(set('large', 'llm.input_tokens', '')).toEqual(RULES.toSpliced(1, 1));
    expect(set('small', 'llm.output_tokens', '2')).toEqual(
      RULES.toSpliced(4, 0, rule('small', 'llm.output_tokens', '2')),
    );
    expect(set('new "x"', 'llm.input_tokens', '')).toBe(RULES);
    expect(set('new "x"', 'llm.input_tokens', '7')[4]).toMatchObject({
      match_expr: 'dimensions.model == "new \\"x\\""',
    });
    expect(withoutGridRow(RULES, gridOf(RULES), 'large')).toEqual(RULES.toSpliced(1, 2));
  });

  it('puts rules of models before those of all others, whatever is added first', () => {
    const others = withGridPrice([], gridOf([]), { row: null, metric: 'a', price: '1' });
    expect(others).toEqual([
      { name: 'other a', priority: 100, metric: 'a', unit_price_expr: 'dec("1")', ...million },
    ]);
    const both = withGridPrice(others, gridOf(others), { row: 'x', metric: 'a', price: '2' });
    expect(both.map(({ name, priority }) => [name, priority])).toEqual([
      ['x a', undefined],
      ['other a', 100],
    ]);
  });

  it('reads back what it writes, for any name of a model and dimension', () => {
    for (const [dimension, model] of [
      ['model', 'a"b\\c'],
      ['service-tier', 'flex'],
      ['model', 'Ä 中'],
    ] as const) {
      const gridBy = (rules: readonly PricingRule[]) => priceGridOf(rules, [], [dimension]);
      const rules = withGridPrice([], gridBy([]), { row: model, metric: 'm', price: '0.5' });
      const grid = gridBy(rules);
      expect([grid.dimension, grid.rows, grid.priceAt(model, 'm')]).toEqual([dimension, [model], '0.5']);
    }
  });

  it('takes a block of cells from a spreadsheet', () => {
    const rows = ['large', 'small'];
    const next = withPastedPrices(RULES, gridOf, {
      rows,
      metrics: METRICS,
      text: '$1\t2\t3\r\n1,000\t\r\n5\t6\n',
    });
    const grid = gridOf(next);
    expect(rows.map((row) => METRICS.map((metric) => grid.priceAt(row, metric)))).toEqual([
      ['1', '2'],
      ['1000', ''],
    ]);
    expect(grid.rows).toEqual(['large', 'small', null]);
  });
});
