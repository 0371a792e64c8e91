import { describe, expect, it } from 'vitest';
import { changedDays, compareDays, dayKey, type Measurement } from './compare.js';

const measurement = (fields: Partial<Measurement> = {}): Measurement => ({
  tenantId: 'ten_1',
  projectId: 'prj_1',
  day: 20_254,
  metric: 'llm.tokens',
  unit: 'token',
  currency: 'USD',
  measure: 'quantity',
  value: '12.5',
  ...fields,
});

describe('compare', () => {
  it.each([
    ['the same', '12.5', '12.5'],
    ['the same with other zeros', '12.5', '12.500000000000000000'],
    ['zero and nothing', '0', undefined],
    ['nothing and zero', undefined, '0.000'],
    ['many digits', '299999999999999999999.999999999999999997', '299999999999999999999.999999999999999997'],
  ])('finds no difference in %s', (_, expected, found) => {
    const of = (value: string | undefined) => (value === undefined ? [] : [measurement({ value })]);
    expect(compareDays('usage_events', of(expected), of(found))).toEqual({ compared: 1, differences: [] });
  });

  it.each([
    ['a number that differs in its last digit', ['0.000000000000000001'], ['0.000000000000000002']],
    ['a number that is missing', ['12.5'], []],
    ['a number that should not be there', [], ['12.5']],
  ])('reports %s', (_, expected, found) => {
    const of = (values: string[]) => values.map((value) => measurement({ value }));
    expect(compareDays('usage_rollup_1m', of(expected), of(found)).differences).toEqual([
      {
        tenant_id: 'ten_1',
        project_id: 'prj_1',
        day: '2025-06-15',
        store: 'usage_rollup_1m',
        metric: 'llm.tokens',
        unit: 'token',
        currency: 'USD',
        measure: 'quantity',
        expected: expected[0] ?? '0',
        found: found[0] ?? '0',
      },
    ]);
  });

  it('compares each project, day, metric, unit, currency and measure by itself', () => {
    const base = measurement();
    for (const other of [
      { tenantId: 'ten_2' },
      { projectId: 'prj_2' },
      { day: 1 },
      { metric: 'llm' },
      { unit: '' },
      { currency: '' },
      { measure: 'amount' as const },
    ]) {
      expect(compareDays('s', [base], [measurement(other)]).differences, JSON.stringify(other)).toHaveLength(
        2,
      );
    }
  });
});

describe('changedDays', () => {
  it('names the days whose numbers differ between two readings', () => {
    const before = [measurement(), measurement({ day: 1 }), measurement({ day: 2 })];
    const after = [measurement(), measurement({ day: 1, value: '13' }), measurement({ day: 3 })];
    const days = [1, 2, 3].map((day) => dayKey(measurement({ day })));
    expect(changedDays(before, after)).toEqual(new Set(days));
  });
});
