import { describe, expect, it } from 'vitest';
import type { UsedMetric } from '../boards/metrics.js';
import { firstCharts } from './first-board.js';

function used(metric: string, change: Partial<UsedMetric> = {}): UsedMetric {
  return {
    metric,
    unit: 'token',
    currencies: [],
    dimensions: [],
    subject_types: [],
    unpriced_item_count: 0,
    first_seen_at: 0,
    last_seen_at: 0,
    ...change,
  };
}
const dimension = (name: string, cardinality: number) => ({ name, cardinality, sample_values: [] });

describe('firstCharts', () => {
  it('draws quantities of what has no price', () => {
    expect(firstCharts([used('in'), used('out')])).toMatchObject([
      { title: 'Usage by metric', size: 'full', measures: ['quantity'], metrics: ['in', 'out'] },
    ]);
  });

  it('draws first what was charged, for all metrics together', () => {
    const [first] = firstCharts([used('in', { currencies: ['USD'] }), used('out')]);
    expect(first).toMatchObject({ title: 'Amount', measures: ['amount'], split_by: [] });
    expect(first).not.toHaveProperty('metrics');
  });

  it('splits amount by the dimension that most metrics have', () => {
    const currencies = ['USD'];
    const [amount] = firstCharts([
      used('in', { currencies, dimensions: [dimension('tier', 1), dimension('model', 1)] }),
      used('out', { currencies, dimensions: [dimension('model', 1)] }),
    ]);
    expect(amount).toMatchObject({ title: 'Amount by model', group_by: ['model'], limit: 8 });
  });

  it('passes over dimensions of too many values', () => {
    const dimensions = [dimension('request_id', 5_000)];
    const [amount] = firstCharts([used('in', { currencies: ['USD'], dimensions })]);
    expect(amount).not.toHaveProperty('group_by');
  });

  it('mixes no units in one chart of quantities', () => {
    const [quantity] = firstCharts([used('ms', { unit: 'ms' }), used('in'), used('out')]);
    expect(quantity?.metrics).toEqual(['in', 'out']);
  });

  it('asks for no more metrics than a chart can have', () => {
    const many = Array.from({ length: 40 }, (_, index) => used(`m${index}`));
    expect(firstCharts(many).map(({ metrics }) => metrics?.length)).toEqual([32]);
  });
});
