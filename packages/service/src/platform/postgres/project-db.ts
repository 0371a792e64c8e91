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
import type { Db, Tx } from './connect.js';
import type { Database } from './tables.js';

type ScopeColumn = 'tenant_id' | 'project_id';

/** The tables in which each row belongs to one project. */
export type ProjectTable = {
  [T in keyof Database]: Database[T] extends Record<ScopeColumn, string> ? T : never;
}[keyof Database];

/**
 * The rows of one project. Every statement is confined to them: the methods that name a table add the tenant and the
 * project themselves, and SQL in text must contain a part that this handle made, or it is refused before it runs.
 */
export class ProjectDb {
  readonly #db: Db;
  readonly #scope: ProjectScope;
  /** The parts of SQL that name the tenant and the project of this handle. */
  readonly #scoped = new WeakSet<object>();

  constructor(db: Db, scope: ProjectScope) {
    this.#db = db;
    this.#scope = scope;
  }

  /**
   * The condition that a row is of this project. `table` is the table's name or alias where a column could be
   * another's.
   */
  isOwn(table?: string): RawBuilder<boolean> {
    const column = (name: ScopeColumn) => sql.ref(table === undefined ? name : `${table}.${name}`);
    const { tenantId, projectId } = this.#scope;
    return this.#marked(sql`${column('tenant_id')} = ${tenantId} and ${column('project_id')} = ${projectId}`);
  }

  /** The values of `tenant_id, project_id`, for `insert into … values (…)`. */
  ownValues(): RawBuilder<unknown> {
    return this.#marked(sql`${this.#scope.tenantId}, ${this.#scope.projectId}`);
  }

  /** A part of a statement. It is confined to the project if one of the parts in it is. */
  part<T = unknown>(strings: TemplateStringsArray, ...values: readonly unknown[]): RawBuilder<T> {
    const part = sql<T>(strings, ...values);
    return values.some((value) => this.#isScoped(value)) ? this.#marked(part) : part;
  }

  /** Runs a statement and returns its rows. @throws when no part of it comes from this handle */
  async rows<Row>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.#run<Row>(strings, values)).rows;
  }

  /** Runs a statement and returns its first row, if any. @throws as `rows` does */
  async row<Row>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.#run<Row>(strings, values)).rows[0];
  }

  /** Runs a statement and returns the number of rows that it changed. @throws as `rows` does */
  async change(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<number> {
    return Number((await this.#run(strings, values)).numAffectedRows ?? 0n);
  }

  selectFrom<T extends ProjectTable>(table: T): SelectQueryBuilder<Database, T, Record<never, never>> {
    const query = this.#db.selectFrom(table as ProjectTable).where(this.isOwn(table));
    return query as unknown as SelectQueryBuilder<Database, T, Record<never, never>>;
  }

  update<T extends ProjectTable>(
    table: T,
    values: Omit<Updateable<Database[T]>, ScopeColumn>,
  ): UpdateQueryBuilder<Database, T, T, UpdateResult> {
    const query = this.#db
      .updateTable(table as 'boards')
      .set(values)
      .where(this.isOwn(table));
    return query as unknown as UpdateQueryBuilder<Database, T, T, UpdateResult>;
  }

  deleteFrom<T extends ProjectTable>(table: T): DeleteQueryBuilder<Database, T, DeleteResult> {
    const query = this.#db.deleteFrom(table as 'boards').where(this.isOwn(table));
    return query as unknown as DeleteQueryBuilder<Database, T, DeleteResult>;
  }

  insert<T extends ProjectTable>(
    table: T,
    values: Omit<Insertable<Database[T]>, ScopeColumn>,
  ): InsertQueryBuilder<Database, T, InsertResult> {
    const { tenantId: tenant_id, projectId: project_id } = this.#scope;
    const row = { ...values, tenant_id, project_id } as unknown as Insertable<Database['boards']>;
    const query = this.#db.insertInto(table as 'boards').values(row);
    return query as unknown as InsertQueryBuilder<Database, T, InsertResult>;
  }

  #run<Row>(strings: TemplateStringsArray, values: readonly unknown[]) {
    if (!values.some((value) => this.#isScoped(value))) {
      throw new Error(`This statement names no tenant and project: ${strings.join('…').trim()}`);
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

/** The same in an open transaction, for statements that belong to one. */
export class ProjectTx extends ProjectDb {
  readonly isInTransaction = true;

  constructor(tx: Tx, scope: ProjectScope) {
    super(tx, scope);
  }
}
