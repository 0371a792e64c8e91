import {
  type DeleteQueryBuilder,
  type DeleteResult,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type Updateable,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely';
import type { ProjectScope } from '../../kernel/scope.js';
import { lockUntilCommit } from './advisory-lock.js';
import type { Db, Tx } from './connect.js';
import type { Database } from './tables.js';

type ScopeColumn = 'tenant_id' | 'project_id';

type TableWith<Column extends string> = {
  [T in keyof Database]: Database[T] extends Record<Column, string> ? T : never;
}[keyof Database];

/** The tables in which each row belongs to one project. */
export type ProjectTable = TableWith<ScopeColumn>;

/** The tables in which each row belongs to one tenant, or to a project of one. */
export type TenantTable = TableWith<'tenant_id'>;

/** The columns that name the owner of a row, with the values of one owner. */
type OwnColumns = readonly (readonly [ScopeColumn, string])[];

/**
 * The rows of one owner: a project or a tenant. Every statement is confined to them: the methods that name a table
 * add the owner themselves, and SQL in text must contain a part that this handle made, or it is refused before it runs.
 */
abstract class ScopedDb<Own extends ScopeColumn, Table extends keyof Database> {
  readonly #db: Db;
  readonly #own: OwnColumns;
  /** The parts of SQL that name the owner of this handle. */
  readonly #scoped = new WeakSet<object>();

  constructor(db: Db, own: OwnColumns) {
    this.#db = db;
    this.#own = own;
  }

  /**
   * Returns the condition that a row belongs to the owner. `table`: its name or alias, if the column could be
   * ambiguous.
   */
  isOwn(table?: string): RawBuilder<boolean> {
    const conditions = this.#own.map(([name, value]) => {
      const column = sql.ref(table === undefined ? name : `${table}.${name}`);
      return sql`${column} = ${value}`;
    });
    return this.#marked(sql<boolean>`${sql.join(conditions, sql` and `)}`);
  }

  /** Returns the values of `tenant_id, project_id` (for a tenant: `tenant_id`), for `insert into … values (…)`. */
  ownValues(): RawBuilder<unknown> {
    return this.#marked(sql`${sql.join(this.#own.map(([, value]) => sql`${value}::text`))}`);
  }

  /** Returns a part of a statement. It is confined to the owner if one of the parts in it is. */
  part<T = unknown>(strings: TemplateStringsArray, ...values: readonly unknown[]): RawBuilder<T> {
    const part = sql<T>(strings, ...values);
    return values.some((value) => this.#isScoped(value)) ? this.#marked(part) : part;
  }

  /**
   * Runs a statement and returns its rows.
   *
   * @throws when no part of it comes from this handle
   */
  async rows<Row>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.#run<Row>(strings, values)).rows;
  }

  /**
   * Runs a statement and returns its first row, if any.
   *
   * @throws as `rows` does
   */
  async row<Row>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.#run<Row>(strings, values)).rows[0];
  }

  /**
   * Runs a statement and returns the number of rows that it changed.
   *
   * @throws as `rows` does
   */
  async change(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<number> {
    return Number((await this.#run(strings, values)).numAffectedRows ?? 0n);
  }

  selectFrom<T extends Table>(table: T): SelectQueryBuilder<Database, T, Record<never, never>> {
    const query = this.#db.selectFrom(table as 'boards').where(this.isOwn(table));
    return query as unknown as SelectQueryBuilder<Database, T, Record<never, never>>;
  }

  update<T extends Table>(
    table: T,
    values: Omit<Updateable<Database[T]>, Own>,
  ): UpdateQueryBuilder<Database, T, T, UpdateResult> {
    const query = this.#db
      .updateTable(table as 'boards')
      .set(values)
      .where(this.isOwn(table));
    return query as unknown as UpdateQueryBuilder<Database, T, T, UpdateResult>;
  }

  deleteFrom<T extends Table>(table: T): DeleteQueryBuilder<Database, T, DeleteResult> {
    const query = this.#db.deleteFrom(table as 'boards').where(this.isOwn(table));
    return query as unknown as DeleteQueryBuilder<Database, T, DeleteResult>;
  }

  /** Inserts rows in one statement. The handle's owner replaces the owner that a row names. */
  insert<T extends Table>(
    table: T,
    ...values: readonly Omit<Insertable<Database[T]>, Own>[]
  ): InsertQueryBuilder<Database, T, InsertResult> {
    const own = Object.fromEntries(this.#own);
    const rows = values.map((row) => ({ ...row, ...own }) as unknown as Insertable<Database['boards']>);
    const query = this.#db.insertInto(table as 'boards').values(rows);
    return query as unknown as InsertQueryBuilder<Database, T, InsertResult>;
  }

  #run<Row>(strings: TemplateStringsArray, values: readonly unknown[]) {
    if (!values.some((value) => this.#isScoped(value))) {
      const owner = this.#own.length === 1 ? 'tenant' : 'tenant and project';
      throw new Error(`This statement names no ${owner}: ${strings.join('…').trim()}`);
    }
    return sql<Row>(strings, ...values).execute(this.#db);
  }

  #isScoped(value: unknown): boolean {
    return typeof value === 'object' && value !== null && this.#scoped.has(value);
  }

  #marked<T>(part: RawBuilder<T>): RawBuilder<T> {
    this.#scoped.add(part);
    return part;
  }
}

/** The rows of one project. */
export class ProjectDb extends ScopedDb<ScopeColumn, ProjectTable> {
  readonly scope: ProjectScope;

  constructor(db: Db, scope: ProjectScope) {
    super(db, [
      ['tenant_id', scope.tenantId],
      ['project_id', scope.projectId],
    ]);
    this.scope = { tenantId: scope.tenantId, projectId: scope.projectId };
  }
}

/** The same in an open transaction, for statements that belong to one. */
export class ProjectTx extends ProjectDb {
  readonly isInTransaction = true;

  constructor(tx: Tx, scope: ProjectScope) {
    super(tx, scope);
  }
}

/** The rows of one tenant, in all its projects. */
export class TenantDb extends ScopedDb<'tenant_id', TenantTable> {
  readonly tenantId: string;

  constructor(db: Db, tenantId: string) {
    super(db, [['tenant_id', tenantId]]);
    this.tenantId = tenantId;
  }
}

/** The same in an open transaction, for statements that belong to one. */
export class TenantTx extends TenantDb {
  readonly #tx: Tx;

  constructor(tx: Tx, tenantId: string) {
    super(tx, tenantId);
    this.#tx = tx;
  }

  /** Locks a purpose of this tenant until the transaction ends; other transactions with the same lock wait. */
  async lock(purpose: string, ...details: readonly string[]): Promise<void> {
    await lockUntilCommit(this.#tx, ['tollgate', purpose, this.tenantId, ...details].join('/'));
  }
}
