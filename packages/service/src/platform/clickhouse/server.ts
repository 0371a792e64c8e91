import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { connectionProblem } from '../connection-problem.js';
import {
  type BlockData,
  type ClickHouse,
  type ClickHouseLimits,
  ClickHouseUnavailableError,
  DEFAULT_LIMITS,
  InsertCountError,
  type QueryOptions,
  type QueryParams,
} from './port.js';
import { parseRows, ROWS_FORMAT } from './rows.js';
import { insertInto, insertSettings, querySettings } from './sql.js';

export interface ClickHouseServerOptions {
  /** `http(s)://user:password@host:8123/database` */
  readonly url: string;
  readonly applicationName?: string;
  readonly limits?: Partial<ClickHouseLimits>;
}

const CONNECTIONS_MAX = 16;
/** Longer than the longest query that the server allows. */
const RESPONSE_MARGIN_MS = 5_000;
const INSERT_TIMEOUT_MS = 120_000;

/** Uses a ClickHouse server over HTTP. Opens no connection yet. */
export function connectClickHouse(options: ClickHouseServerOptions): ClickHouse {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const client = (requestTimeoutMs: number) =>
    createClient({
      url: options.url,
      application: options.applicationName ?? 'tollgate',
      max_open_connections: CONNECTIONS_MAX,
      request_timeout: requestTimeoutMs,
      log: { level: ClickHouseLogLevel.OFF },
    });
  return new ServerClickHouse(
    client(limits.executionSecondsMax * 1000 + RESPONSE_MARGIN_MS),
    client(INSERT_TIMEOUT_MS),
    querySettings(limits),
  );
}

/** The meaning of errors of the server for somebody who has configured it, by their names. */
const PROBLEMS: Readonly<Record<string, string>> = {
  AUTHENTICATION_FAILED: 'the user or the password is wrong',
  UNKNOWN_DATABASE: 'the database does not exist',
};

/**
 * Checks that a server can be used, and closes the connection if it cannot.
 *
 * @param place host and database, without credentials
 * @throws ClickHouseUnavailableError with one sentence that says what is wrong
 */
export async function checkClickHouseServer(
  clickhouse: Pick<ClickHouse, 'query' | 'close'>,
  place: string,
): Promise<void> {
  try {
    await clickhouse.query('SELECT 1 AS one');
  } catch (error) {
    await clickhouse.close();
    throw new ClickHouseUnavailableError(
      `TOLLGATE_CLICKHOUSE_URL cannot be used (${place}): ${connectionProblem(error, PROBLEMS)}.`,
    );
  }
}

class ServerClickHouse implements ClickHouse {
  readonly #querying: ClickHouseClient;
  readonly #inserting: ClickHouseClient;
  readonly #settings: ReturnType<typeof querySettings>;
  #closing: Promise<void> | undefined;

  constructor(
    querying: ClickHouseClient,
    inserting: ClickHouseClient,
    settings: ReturnType<typeof querySettings>,
  ) {
    this.#querying = querying;
    this.#inserting = inserting;
    this.#settings = settings;
  }

  async query<Row>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Row[]> {
    return parseRows<Row>(await this.queryText(sql, params, options));
  }

  async queryText(sql: string, params: QueryParams = {}, options: QueryOptions = {}): Promise<string> {
    const result = await this.#querying.query({
      query: sql,
      format: ROWS_FORMAT,
      query_params: params,
      clickhouse_settings: this.#settings,
      ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
    });
    return result.text();
  }

  async exportRows(sql: string, params: QueryParams = {}): Promise<Buffer> {
    const { stream } = await this.#querying.exec({
      query: `${sql} FORMAT Native`,
      query_params: params,
      clickhouse_settings: { ...this.#settings, wait_end_of_query: 1 },
    });
    return buffer(stream);
  }

  async command(sql: string, params: QueryParams = {}): Promise<void> {
    await this.#inserting.command({
      query: sql,
      query_params: params,
      clickhouse_settings: { session_timezone: 'UTC', wait_end_of_query: 1 },
    });
  }

  async insertRows(
    table: string,
    columns: readonly string[],
    data: BlockData,
    rowCount: number,
    token: string,
  ): Promise<void> {
    const values = await openStream(data);
    const { stream, summary } = await this.#inserting
      .exec({
        query: `${insertInto(table, columns)} FORMAT Native`,
        values,
        clickhouse_settings: { ...insertSettings(token), session_timezone: 'UTC', wait_end_of_query: 1 },
      })
      .finally(() => values.destroy());
    for await (const _ of stream); // no data comes, but the connection is free only at the end of the stream
    // A server also counts what materialized views write (ClickHouse issue 18237), so only a smaller count is an error.
    const taken = Math.max(Number(summary?.read_rows ?? 0), Number(summary?.written_rows ?? 0));
    if (taken < rowCount) throw new InsertCountError(table, taken, rowCount);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#querying.close(), this.#inserting.close()]).then(() => undefined);
    return this.#closing;
  }
}

/** Opens the file before the request, so that a missing file throws here and not as an event. */
async function openStream(data: BlockData): Promise<Readable> {
  const stream =
    'file' in data
      ? (await open(data.file)).createReadStream()
      : Readable.from([data.bytes].flat(), { objectMode: false });
  // A read error fails the request; without a listener, the event itself would end the process.
  return stream.on('error', () => undefined);
}
