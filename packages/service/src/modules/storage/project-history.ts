import type { ClickHouse, ClickHouseReader } from '../../platform/clickhouse/index.js';
import type { HistoryScope } from './history.js';
import { type StorageTables, storageTables } from './tables.js';

/** The condition that a row is of the project whose history is read. `ProjectHistory` runs no statement without it. */
export const OWN_ROWS = 'tenant_id = {tenant:String} AND project_id = {project:String}';

/** The condition that a row's time is one of which history is shown. */
export function isKept(time: string): string {
  return `${time} >= toDateTime({retained_from:UInt32}, 'UTC')`;
}

/** Reads rows one by one, and in blocks. */
export type BlockReader = Pick<ClickHouseReader, 'query' | 'exportRowsUpTo'>;

/** The history of one project. Binds tenant, project and retention, and refuses statements without `OWN_ROWS`. */
export class ProjectHistory<
  Reader extends Pick<ClickHouseReader, 'query'> = Pick<ClickHouseReader, 'query'>,
> {
  readonly tables: StorageTables;
  readonly scope: HistoryScope;
  readonly #clickhouse: Reader;
  readonly #params: Readonly<Record<string, unknown>>;

  constructor(clickhouse: Reader, scope: HistoryScope) {
    this.tables = storageTables(scope);
    this.scope = scope;
    this.#clickhouse = clickhouse;
    this.#params = {
      tenant: scope.tenantId,
      project: scope.projectId,
      retained_from: scope.retainedFrom,
    };
  }

  /** Runs a SELECT and returns its rows. @throws when it contains no `OWN_ROWS` */
  async query<Row>(...[sql, params, options]: Parameters<ClickHouse['query']>): Promise<Row[]> {
    assertOwn(sql);
    return this.#clickhouse.query<Row>(sql, { ...params, ...this.#params }, options);
  }

  /**
   * Returns the rows as blocks of the Native format; undefined if they have more than about `bytesMax` bytes.
   *
   * @throws as `query`
   */
  async blocks(
    this: ProjectHistory<BlockReader>,
    ...[bytesMax, sql, params]: Parameters<ClickHouse['exportRowsUpTo']>
  ): Promise<Uint8Array | undefined> {
    assertOwn(sql);
    return this.#clickhouse.exportRowsUpTo(bytesMax, sql, { ...params, ...this.#params });
  }
}

function assertOwn(sql: string): void {
  if (!sql.includes(OWN_ROWS)) throw new Error(`This statement names no tenant and project: ${sql.trim()}`);
}
