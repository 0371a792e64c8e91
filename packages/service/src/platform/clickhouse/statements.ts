import { type Migration, MigrationError, splitStatements } from '../migration-files.js';

/**
 * Returns the statements of a migration, in order. ClickHouse has no transactions, so each must be safe to repeat.
 * @throws MigrationError
 */
export function statementsOf({ name, sql }: Pick<Migration, 'name' | 'sql'>): string[] {
  const statements = splitStatements(sql);
  for (const statement of statements) {
    if (!bearsRepetition(statement)) {
      throw new MigrationError(
        `A statement of ${name} cannot be repeated safely: ${statement.slice(0, 60)}…`,
      );
    }
  }
  return statements;
}

/**
 * Returns the names of the tables and views of usage that the migrations create, in the order of creation. Only these
 * have copies.
 */
export function tablesOf(migrations: readonly Pick<Migration, 'sql'>[]): string[] {
  const made = migrations
    .flatMap(({ sql }) => splitStatements(sql))
    .map((statement) => CREATED.exec(statement)?.[1]);
  return made.filter((name) => name?.startsWith('usage') === true) as string[];
}

/** Returns the same statement for the copies of the tables, whose names end in the suffix. */
export function renamed(statement: string, tables: readonly string[], suffix: string): string {
  return statement.replaceAll(new RegExp(`\\b(?:${tables.join('|')})\\b`, 'g'), `$&${suffix}`);
}

const CREATED = /^CREATE (?:TABLE|MATERIALIZED VIEW|VIEW) IF NOT EXISTS (\w+)/i;

function bearsRepetition(statement: string): boolean {
  return /\bIF (NOT )?EXISTS\b|^CREATE OR REPLACE\b/i.test(statement);
}
