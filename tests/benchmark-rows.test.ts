import { expect, test } from 'vitest';
import { usageItem, usageRow } from '../packages/service/src/testing/index.js';

test('the row of usage that benchmarks insert has the fields of a real one', async () => {
  const { usageRow: benchmarkRow } = await import(new URL('../bench/usage-row.mjs', import.meta.url).href);
  const row = benchmarkRow(0, 1_750_000_000_000);
  expect(Object.keys(row).sort()).toEqual(Object.keys(usageRow()).sort());
  for (const item of row.items) expect(Object.keys(item).sort()).toEqual(Object.keys(usageItem()).sort());
});
