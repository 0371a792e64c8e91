import { expect, test } from 'vitest';
import { splitStatements } from './migrate.js';

test('statements end at a semicolon that ends a line; comments of whole lines are dropped', () => {
  const sql = `-- one; two;\nSELECT ';' AS a,\n  2;\n\nSELECT 3`;
  expect(splitStatements(sql)).toEqual([`SELECT ';' AS a,\n  2`, 'SELECT 3']);
});
