/** A ClickHouse database, embedded or on a server: the same SQL and the same results. */
export interface ClickHouse {
  /**
   * Rows of a SELECT without a FORMAT clause. Parameters are bound by the engine as `{name:Type}`.
   * Decimals and 64-bit integers arrive as text.
   */
  query<Row>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Row[]>;

  /** The same as text, from which `parseRows` makes the rows: on another thread, say. */
  queryText(sql: string, params?: QueryParams, options?: QueryOptions): Promise<string>;

  /** Runs one statement that returns no rows. */
  command(sql: string, params?: QueryParams): Promise<void>;

  /**
   * Inserts blocks of the Native format, holding `rowCount` rows of the named columns, as one. When it
   * returns, the rows and what materialized views make of them are on disk. The same rows sent again with the same
   * token are inserted once, whichever process was killed in between; `token` is 1–128 letters, digits
   * and `_.:-`.
   */
  insertRows(
    table: string,
    columns: readonly string[],
    data: BlockData,
    rowCount: number,
    token: string,
  ): Promise<void>;

  /** Ends the queries that still run, and releases everything. Safe to call twice. */
  close(): Promise<void>;
}

export type QueryParams = Readonly<Record<string, unknown>>;

export interface QueryOptions {
  /** Ends the waiting. The embedded engine stops then too; a server at the latest after `executionSecondsMax`. */
  readonly signal?: AbortSignal;
}

/** One block of the Native format or several; bytes may come in pieces, cut anywhere. */
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

/** Blocks of one insert become one up to this; more rows would be several under one token. */
export const INSERT_ROWS_MAX = 1_000_000;

/** ClickHouse cannot run or be reached here; the message is one sentence for the operator. */
export class ClickHouseUnavailableError extends Error {
  override readonly name = 'ClickHouseUnavailableError';
}

/** The engine did not take the rows that were sent, and noticed nothing itself. */
export class InsertCountError extends Error {
  override readonly name = 'InsertCountError';

  constructor(table: string, taken: number, sent: number) {
    super(`ClickHouse took ${taken} rows into ${table} where ${sent} were sent.`);
  }
}
