import { expect, it } from 'vitest';
import { sumQuery } from './sum-query.js';

it('asks for the sum of what a list selects', () => {
  const conditions = { model: { in: ['a'] } };
  const eventQuery = {
    ...{ from: 10, to: 20, status: 'processed' as const, metric: ['in', 'out'], currency: 'USD' },
    ...{ subject_type: 'customer', subject_id: 'c1', filters: JSON.stringify(conditions) },
  };
  expect(sumQuery(eventQuery, 100)).toEqual({
    ...{ metrics: ['in', 'out'], split_by: [], measures: ['item_count', 'amount'], bucket_size: 'none' },
    ...{ time_range: { from: 10, to: 20 }, filters: conditions },
    ...{ subject_type: 'customer', subject_id: 'c1' },
  });
  expect(sumQuery({ from: 10 }, 100)).toMatchObject({ time_range: { from: 10, to: 101 }, filters: {} });
});

it.each([
  {},
  { to: 20 },
  { from: 200 },
  { from: 10, status: 'failed' as const },
  { from: 10, status: 'voided' as const },
  { from: 10, source: 'x' },
  { from: 10, pricing_source: 'unpriced' as const },
  { from: 10, ledger_transaction_id: 'led_1' },
])('asks for none that a query does not answer: %o', (eventQuery) =>
  expect(sumQuery(eventQuery, 100)).toBeUndefined(),
);
