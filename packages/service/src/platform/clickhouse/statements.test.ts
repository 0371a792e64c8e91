import { expect, test } from 'vitest';
import { splitStatements } from '../migration-files.js';
import { renamed, tablesOf } from './statements.js';

test('statements end at a semicolon that ends a line; comments of whole lines are dropped', () => {
  const sql = `-- one; two;\nSELECT ';' AS a,\n  2;\n\nSELECT 3`;
  expect(splitStatements(sql)).toEqual([`SELECT ';' AS a,\n  2`, 'SELECT 3']);
});

test('tables are found where they are made, and renamed as whole words', () => {
  const sql = `CREATE TABLE IF NOT EXISTS usage (n Int8);\nCREATE MATERIALIZED VIEW IF NOT EXISTS usage_view TO sums AS
    SELECT usage_n FROM usage;\nALTER TABLE usage ADD COLUMN IF NOT EXISTS m Int8;
CREATE TABLE IF NOT EXISTS marks (n Int8)`;
  const tables = tablesOf([{ sql }]);
  expect(tables).toEqual(['usage', 'usage_view']);
  expect(splitStatements(sql).map((statement) => renamed(statement, tables, '_7'))).toEqual([
    'CREATE TABLE IF NOT EXISTS usage_7 (n Int8)',
    `CREATE MATERIALIZED VIEW IF NOT EXISTS usage_view_7 TO sums AS
    SELECT usage_n FROM usage_7`,
    'ALTER TABLE usage_7 ADD COLUMN IF NOT EXISTS m Int8',
    'CREATE TABLE IF NOT EXISTS marks (n Int8)',
  ]);
});
