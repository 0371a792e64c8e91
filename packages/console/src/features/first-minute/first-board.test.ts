import { describe, expect, it } from 'vitest';
import { firstCharts, type UsedMetric } from './first-board.js';

function used(metric: string, change: Partial<UsedMetric> = {}): UsedMetric {
  return {
    metric,
    unit: 'token',
    currencies: [],
    dimensions: [],
    subject_types: [],
    first_seen_at: 0,
    last_seen_at: 0,
    ...change,
  };
}
const dimension = (name: string, cardinality: number) => ({ name, cardinality, sample_values: [] });

describe('firstCharts', () => {
  it('draws quantities and counts of what has no price', () => {
    expect(firstCharts([used('in'), used('out')])).toMatchObject([
      { title: 'Usage by metric', size: 'full', measures: ['quantity'], metrics: ['in', 'out'] },
      { title: 'Charge items', measures: ['item_count'] },
    ]);
  });

  it('draws first what was charged, of what has a price', () => {
    const [first] = firstCharts([used('in', { currencies: ['USD'] }), used('out')]);
    expect(first).toMatchObject({ title: 'Cost', measures: ['amount'], metrics: ['in'] });
  });

  it('tells apart by the dimension that most metrics have', () => {
    const dimensions = [dimension('model', 1), dimension('tier', 1)];
    const [, charges] = firstCharts([
      used('in', { dimensions }),
      used('out', { dimensions: [dimension('model', 1)] }),
    ]);
    expect(charges).toMatchObject({ title: 'Charge items by model', group_by: ['model'], limit: 8 });
  });

  it('passes over dimensions of too many values', () => {
    const [, charges] = firstCharts([used('in', { dimensions: [dimension('request_id', 5_000)] })]);
    expect(charges).not.toHaveProperty('group_by');
  });

  it('mixes no units in one chart of quantities', () => {
    const [quantity] = firstCharts([used('ms', { unit: 'ms' }), used('in'), used('out')]);
    expect(quantity?.metrics).toEqual(['in', 'out']);
  });

  it('asks for no more metrics than a chart can have', () => {
    const many = Array.from({ length: 40 }, (_, index) => used(`m${index}`));
    for (const { metrics } of firstCharts(many)) expect(metrics).toHaveLength(32);
  });
});
