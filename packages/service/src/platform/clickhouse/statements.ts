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

/** A statement that replaces or drops a view. */
export interface ViewChange {
  readonly view: string;
  readonly isDropped: boolean;
  readonly statement: string;
}

/** Returns undefined if the statement neither replaces nor drops a view. */
export function viewChange(statement: string): ViewChange | undefined {
  const [, verb = '', view] = VIEW_CHANGE.exec(statement) ?? [];
  if (view === undefined) return undefined;
  return { view, isDropped: /^DROP/i.test(verb), statement };
}

/** Returns the last change of each view that migrations replace or drop. Views that are replaced come first. */
export function viewChanges(migrations: readonly Pick<Migration, 'name' | 'sql'>[]): ViewChange[] {
  const changes = migrations.flatMap(statementsOf).map(viewChange);
  const last = new Map(changes.flatMap((change) => (change === undefined ? [] : [[change.view, change]])));
  return [...last.values()].sort((a, b) => Number(a.isDropped) - Number(b.isDropped));
}

/** Returns the same statement for the copies of the tables, whose names end in the suffix. */
export function renamed(statement: string, tables: readonly string[], suffix: string): string {
  return statement.replaceAll(new RegExp(`\\b(?:${tables.join('|')})\\b`, 'g'), `$&${suffix}`);
}

/**
 * Returns fewer statements that create, from nothing, the same as all statements of the migrations: changes of a table
 * are joined, because each takes about as long as the creation, and a view that is replaced later is created once, one
 * that is dropped not at all. Views come last, when the tables have all their columns. If there is another kind of
 * statement, all stay as they are.
 */
export function joinedStatements(migrations: readonly Pick<Migration, 'name' | 'sql'>[]): string[] {
  const statements = migrations.flatMap(statementsOf);
  const [creations, views]: [string[], Map<string, string>] = [[], new Map()];
  const changes: Change[] = [];
  for (const statement of statements) {
    const view = VIEW.exec(statement)?.[1];
    const dropped = viewChange(statement)?.view;
    const change = changeOf(statement);
    if (/^CREATE TABLE\b/i.test(statement)) creations.push(statement);
    else if (view !== undefined) views.set(view, statement);
    else if (dropped !== undefined) views.delete(dropped);
    else if (change !== undefined) joinChange(changes, change);
    else return statements;
  }
  const altering = changes.map(({ table, clauses }) => `ALTER TABLE ${table} ${clauses}`);
  return [...creations, ...altering, ...views.values()];
}

/** Changes of the columns of a table. */
interface Change {
  readonly table: string;
  clauses: string;
}

function changeOf(statement: string): Change | undefined {
  const [head, table] = CHANGING.exec(statement) ?? [];
  if (head === undefined || table === undefined || /\bSETTINGS?\b/i.test(statement)) return undefined;
  return { table, clauses: statement.slice(head.length) };
}

/** Joins a change with the last one of the same table, unless it modifies a column that this one adds. */
function joinChange(changes: Change[], change: Change): void {
  const last = changes.findLast(({ table }) => table === change.table);
  const modified = [...change.clauses.matchAll(MODIFIED)].map(([, column]) => column);
  if (last === undefined || modified.some((column) => last.clauses.includes(`NOT EXISTS ${column} `)))
    changes.push(change);
  else last.clauses += `, ${change.clauses}`;
}

const VIEW = /^CREATE (?:OR REPLACE )?(?:MATERIALIZED )?VIEW (?:IF NOT EXISTS )?(\w+)/i;
const VIEW_CHANGE = /^(CREATE OR REPLACE MATERIALIZED VIEW|DROP VIEW IF EXISTS) (\w+)/i;
const CHANGING = /^ALTER TABLE (\w+)\s+(?=(?:ADD|MODIFY) COLUMN\b)/i;
const MODIFIED = /\bMODIFY COLUMN (?:IF EXISTS )?(\S+)/gi;
const CREATED = /^CREATE (?:TABLE|MATERIALIZED VIEW|VIEW) IF NOT EXISTS (\w+)/i;

function bearsRepetition(statement: string): boolean {
  return /\bIF (NOT )?EXISTS\b|^CREATE OR REPLACE\b/i.test(statement);
}
