/** Reads of a ClickHouse database. */
export interface ClickHouseReader {
  /**
   * Returns the rows of a SELECT without a FORMAT clause. The engine binds parameters as `{name:Type}`. Decimals and
   * 64-bit integers arrive as text.
   */
  query<Row>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Row[]>;

  /** The same as text; `parseRows` returns its rows, on another thread if needed. */
  queryText(sql: string, params?: QueryParams, options?: QueryOptions): Promise<string>;

  /** Returns the rows of a SELECT without a FORMAT clause as blocks of the Native format, for `insertRows`. */
  exportRows(sql: string, params?: QueryParams): Promise<Buffer>;

  /** The same, unless the rows have more than about `bytesMax` bytes in memory: then undefined. */
  exportRowsUpTo(bytesMax: number, sql: string, params?: QueryParams): Promise<Buffer | undefined>;
}

/** A ClickHouse database, embedded, on a server or on the replicas of a cluster: the same SQL and the same results. */
export interface ClickHouse extends ClickHouseReader {
  /**
   * Returns a reader that finds all rows of the tables whose insert has returned before, in any process. Charts do
   * without: on a cluster, a replica that lacks rows of another first fetches them.
   */
  upToDate(tables: readonly string[]): Promise<ClickHouseReader>;

  /** Returns text for FROM: the rows of a system table about this database, of all replicas that can be reached. */
  systemTable(name: SystemTable): string;

  /** Returns whether all replicas can be reached now, so that a statement changes the tables of all of them. */
  reachesAll(): Promise<boolean>;

  /**
   * Runs one statement that returns no rows. It is written for a single server; on a cluster, all replicas do it.
   *
   * @throws MigrationError if it is unknown how a cluster would do it
   */
  command(sql: string, params?: QueryParams): Promise<void>;

  /**
   * Inserts blocks of the Native format, which contain `rowCount` rows of the named columns, as one block. When it
   * returns, the rows and their sums in materialized views are on disk, on a cluster on most replicas. The same rows
   * sent again with the same token are inserted once, whichever process was killed in between; `token` is 1–128
   * letters, digits and `_.:-`.
   *
   * @param confirm default: nothing forbids the insert
   * @throws the error of `confirm`
   */
  insertRows(
    table: string,
    columns: readonly string[],
    data: BlockData,
    rowCount: number,
    token: string,
    confirm?: ConfirmInsert,
  ): Promise<void>;

  /**
   * Waits until every insert that ClickHouse has begun has ended, also those of processes that were killed or hang.
   * Inserts that begin later do not prolong the wait.
   */
  insertsEnded(): Promise<void>;

  /** Ends running queries, and releases everything. Safe to call twice. */
  close(): Promise<void>;
}

/** The replicas that have the same tables. */
export interface Cluster {
  /** Its name in `system.clusters`. */
  readonly name: string;
  /** ClickHouse Cloud replicates every table by itself; other servers need replicated engines. */
  readonly isCloud: boolean;
  readonly replicas: number;
}

/** System tables that differ between replicas. */
export type SystemTable = 'parts' | 'mutations';

export type QueryParams = Readonly<Record<string, unknown>>;

export interface QueryOptions {
  /**
   * Stops waiting. The embedded engine then ends the query too; a server ends it at the latest after
   * `executionSecondsMax`.
   */
  readonly signal?: AbortSignal;
}

/**
 * Checks that rows may be inserted: rejects if not, and nothing is inserted then. It is called right before the rows
 * are sent, and every few seconds while they are sent.
 */
export type ConfirmInsert = () => Promise<void>;

/** One or several blocks of the Native format; bytes may come in pieces, cut anywhere. */
export type BlockData = { readonly file: string } | { readonly bytes: Buffer | readonly Buffer[] };

/** Bounds of the resources that one query may use. */
export interface ClickHouseLimits {
  readonly queryMemoryBytesMax: number;
  readonly queryThreadsMax: number;
  readonly executionSecondsMax: number;
}

export const DEFAULT_LIMITS: ClickHouseLimits = {
  queryMemoryBytesMax: 1024 ** 3,
  queryThreadsMax: 2,
  executionSecondsMax: 20,
};

/**
 * Upper bound of the rows in one insert: up to this the blocks are joined to one; more rows would become several under
 * one token.
 */
export const INSERT_ROWS_MAX = 1_000_000;

/** ClickHouse cannot run or be reached here; the message is one sentence for the operator. */
export class ClickHouseUnavailableError extends Error {
  override readonly name = 'ClickHouseUnavailableError';
}

/** The engine stored fewer rows than were sent, without reporting an error. */
export class InsertCountError extends Error {
  override readonly name = 'InsertCountError';

  constructor(
    table: string,
    readonly taken: number,
    sent: number,
  ) {
    super(`ClickHouse took ${taken} rows into ${table} where ${sent} were sent.`);
  }
}
