import { expect, test } from 'vitest';
import { splitStatements } from '../migration-files.js';
import { joinedStatements, renamed, tablesOf } from './statements.js';

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

test('changes of a new table are joined, up to one that modifies a column that they add', () => {
  const migrations = [
    `CREATE TABLE IF NOT EXISTS t (n Int8);\nCREATE MATERIALIZED VIEW IF NOT EXISTS v TO sums AS SELECT n FROM t;
CREATE TABLE IF NOT EXISTS sums (n Int8);`,
    `ALTER TABLE t ADD COLUMN IF NOT EXISTS a Int8;\nALTER TABLE sums ADD COLUMN IF NOT EXISTS a Int8;`,
    `ALTER TABLE t\n  MODIFY COLUMN IF EXISTS n Int16;\nALTER TABLE t MODIFY COLUMN IF EXISTS a Int16;`,
    'CREATE MATERIALIZED VIEW IF NOT EXISTS w TO sums AS SELECT n FROM t;',
    'CREATE OR REPLACE MATERIALIZED VIEW v TO sums AS SELECT n, a FROM t;\nDROP VIEW IF EXISTS w SYNC;',
  ].map((sql) => ({ name: 'step', sql }));
  expect(joinedStatements(migrations)).toEqual([
    'CREATE TABLE IF NOT EXISTS t (n Int8)',
    'CREATE TABLE IF NOT EXISTS sums (n Int8)',
    'ALTER TABLE t ADD COLUMN IF NOT EXISTS a Int8, MODIFY COLUMN IF EXISTS n Int16',
    'ALTER TABLE sums ADD COLUMN IF NOT EXISTS a Int8',
    'ALTER TABLE t MODIFY COLUMN IF EXISTS a Int16',
    'CREATE OR REPLACE MATERIALIZED VIEW v TO sums AS SELECT n, a FROM t',
  ]);
});

test.each([
  'DROP TABLE IF EXISTS t',
  'ALTER TABLE t DROP COLUMN IF EXISTS a',
  'ALTER TABLE t ADD COLUMN IF NOT EXISTS b Int8 SETTINGS alter_sync = 2',
])('nothing is joined or moved beside %s', (last) => {
  const sql = ['ADD COLUMN IF NOT EXISTS a Int8', 'ADD COLUMN IF NOT EXISTS b Int8']
    .map((change) => `ALTER TABLE t ${change};\n`)
    .join('');
  expect(joinedStatements([{ name: 'step', sql: `${sql}${last};` }])).toHaveLength(3);
});
