import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { mapAtOnce } from '../at-once.js';
import { TlsAgent } from '../tls-agent.js';
import { TlsFiles, takeTlsPaths } from '../tls-files.js';
import { unlessTooLarge } from './errors.js';
import { confirmedPieces, untilInsertsEnd } from './held-inserts.js';
import {
  type BlockData,
  type ClickHouse,
  type ClickHouseLimits,
  type ClickHouseReader,
  type Cluster,
  type ConfirmInsert,
  DEFAULT_LIMITS,
  InsertCountError,
  type QueryOptions,
  type QueryParams,
  type SystemTable,
} from './port.js';
import { replicatedStatement } from './replicated-statement.js';
import { parseRows, ROWS_FORMAT } from './rows.js';
import {
  identifier,
  insertInto,
  insertSettings,
  literal,
  ownSystemTable,
  querySettings,
  quorumSettings,
  resultBytesMax,
  runningStatements,
  systemTableOfAll,
} from './sql.js';

export interface ClickHouseServerOptions {
  /** `http(s)://user:password@host:8123/database`, with one host */
  readonly url: string;
  /** The cluster that the host is a replica of. */
  readonly cluster?: Cluster | undefined;
  readonly applicationName?: string;
  readonly limits?: Partial<ClickHouseLimits>;
}

const CONNECTIONS_MAX = 16;
/** Longer than the longest query that the server allows. */
const RESPONSE_MARGIN_MS = 5_000;
const INSERT_TIMEOUT_MS = 120_000;
/** The server ends an insert before its client gives it up. */
const INSERT_SECONDS_MAX = 100;
const CATCH_UPS_AT_ONCE = 8;
/** Upper bound of the time that a replica may take to fetch what it lacks. */
const CATCH_UP_SETTINGS: ClickHouseSettings = { receive_timeout: 20 };
/** Upper bound of the time that replicas may take to create or change a table, in seconds. */
const DEFINITION_SECONDS_MAX = 60;

/** Uses a ClickHouse server over HTTP. Opens no connection yet. */
export function connectClickHouse(options: ClickHouseServerOptions): ClickHouse {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { url, tls } = tlsOptions(options.url);
  const client = (requestTimeoutMs: number) =>
    createClient({
      ...tls,
      url,
      application: options.applicationName ?? 'tollgate',
      max_open_connections: CONNECTIONS_MAX,
      request_timeout: requestTimeoutMs,
      log: { level: ClickHouseLogLevel.OFF },
    });
  return new ServerClickHouse({
    querying: client(limits.executionSecondsMax * 1000 + RESPONSE_MARGIN_MS),
    inserting: client(INSERT_TIMEOUT_MS),
    settings: querySettings(limits),
    cluster: options.cluster,
    database: decodeURIComponent(new URL(url).pathname.slice(1)) || 'default',
  });
}

/** Takes the files for TLS out of a URL. The certificate authenticates a user without a password. */
function tlsOptions(text: string): { readonly url: string; readonly tls: ClickHouseClientConfigOptions } {
  const { url, paths } = takeTlsPaths(text);
  if (paths === undefined) return { url, tls: {} };
  const { username, password } = new URL(url);
  const byCertificate = {
    set_basic_auth_header: false,
    http_headers: {
      'X-ClickHouse-User': decodeURIComponent(username) || 'default',
      'X-ClickHouse-SSL-Certificate-Auth': 'on',
    },
  };
  const agent = new TlsAgent(new TlsFiles(paths), { keepAlive: true, maxSockets: CONNECTIONS_MAX });
  return {
    url,
    tls: { http_agent: agent, ...(paths.cert !== undefined && password === '' && byCertificate) },
  };
}

/** A statement that inserts rows needs a quorum, too. */
function statementSettings(cluster: Cluster): ClickHouseSettings {
  return { distributed_ddl_task_timeout: String(DEFINITION_SECONDS_MAX), ...quorumSettings(cluster) };
}

/** The connections to a server. */
interface Connections {
  readonly querying: ClickHouseClient;
  readonly inserting: ClickHouseClient;
  /** Settings of queries. */
  readonly settings: ClickHouseSettings;
  readonly cluster: Cluster | undefined;
  readonly database: string;
}

class ServerClickHouse implements ClickHouse {
  readonly #connections: Connections;
  #closing: Promise<void> | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async query<Row>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Row[]> {
    return parseRows<Row>(await this.queryText(sql, params, options));
  }

  async queryText(sql: string, params: QueryParams = {}, options: QueryOptions = {}): Promise<string> {
    const result = await this.#connections.querying.query({
      query: sql,
      format: ROWS_FORMAT,
      query_params: params,
      clickhouse_settings: this.#connections.settings,
      ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
    });
    return result.text();
  }

  async exportRows(sql: string, params: QueryParams = {}): Promise<Buffer> {
    const { stream } = await this.#connections.querying.exec({
      query: `${sql} FORMAT Native`,
      query_params: params,
      clickhouse_settings: { ...this.#connections.settings, wait_end_of_query: 1 },
    });
    return buffer(stream);
  }

  exportRowsUpTo(bytesMax: number, sql: string, params?: QueryParams): Promise<Buffer | undefined> {
    return unlessTooLarge(this.exportRows(`${sql} ${resultBytesMax(bytesMax)}`, params));
  }

  /**
   * A replica of a cluster fetches what others have. In ClickHouse Cloud the next request may reach another replica, so
   * each query asks for the newest state; elsewhere that would need inserts that wait for each other.
   */
  async upToDate(tables: readonly string[]): Promise<ClickHouseReader> {
    const { cluster, settings } = this.#connections;
    if (cluster === undefined) return this;
    if (cluster.isCloud) {
      const newest: ClickHouseSettings = { ...settings, select_sequential_consistency: '1' };
      return new ServerClickHouse({ ...this.#connections, settings: newest });
    }
    await mapAtOnce(tables, CATCH_UPS_AT_ONCE, (table) =>
      this.#run(`SYSTEM SYNC REPLICA ${identifier(table)} LIGHTWEIGHT`, {}, CATCH_UP_SETTINGS),
    );
    return this;
  }

  systemTable(name: SystemTable): string {
    const { cluster, database } = this.#connections;
    return cluster === undefined ? ownSystemTable(name) : systemTableOfAll(name, cluster, database);
  }

  async reachesAll(): Promise<boolean> {
    const { cluster } = this.#connections;
    if (cluster === undefined) return true;
    try {
      await this.query(`SELECT 1 FROM clusterAllReplicas(${literal(cluster.name)}, system.one)`);
      return true;
    } catch {
      return false;
    }
  }

  async command(sql: string, params: QueryParams = {}): Promise<void> {
    const { cluster } = this.#connections;
    if (cluster === undefined) await this.#run(sql, params, {});
    else await this.#run(replicatedStatement(sql, cluster), params, statementSettings(cluster));
  }

  async #run(query: string, params: QueryParams, settings: ClickHouseSettings): Promise<void> {
    await this.#connections.inserting.command({
      query,
      query_params: params,
      clickhouse_settings: { session_timezone: 'UTC', wait_end_of_query: 1, ...settings },
    });
  }

  async insertRows(
    table: string,
    columns: readonly string[],
    data: BlockData,
    rowCount: number,
    token: string,
    confirm?: ConfirmInsert,
  ): Promise<void> {
    let refusal: unknown;
    const values = await openStream(data, async () => {
      await confirm?.().catch((error) => {
        refusal = error;
        throw error;
      });
    });
    const { stream, summary } = await this.#connections.inserting
      .exec({
        query: `${insertInto(table, columns)} FORMAT Native`,
        values,
        clickhouse_settings: {
          ...insertSettings(token),
          ...quorumSettings(this.#connections.cluster),
          session_timezone: 'UTC',
          max_execution_time: INSERT_SECONDS_MAX,
          wait_end_of_query: 1,
        },
      })
      .catch((error) => {
        throw refusal ?? error;
      })
      .finally(() => values.destroy());
    for await (const _ of stream); // no data comes, but the connection is free only at the end of the stream
    // A server also counts what materialized views write (ClickHouse issue 18237), so only a smaller count is an error.
    const taken = Math.max(Number(summary?.read_rows ?? 0), Number(summary?.written_rows ?? 0));
    if (taken < rowCount) throw new InsertCountError(table, taken, rowCount);
  }

  insertsEnded(): Promise<void> {
    const { cluster, database } = this.#connections;
    return untilInsertsEnd(this, runningStatements(cluster, database));
  }

  close(): Promise<void> {
    const { querying, inserting } = this.#connections;
    this.#closing ??= Promise.all([querying.close(), inserting.close()]).then(() => undefined);
    return this.#closing;
  }
}

/**
 * Opens rows, which are read only while they may be inserted. Opens the file before the request, so that a missing file
 * throws here and not as an event.
 */
async function openStream(data: BlockData, confirm: ConfirmInsert): Promise<Readable> {
  const source =
    'file' in data
      ? (await open(data.file)).createReadStream()
      : Readable.from([data.bytes].flat(), { objectMode: false });
  const confirmed = Readable.from(confirmedPieces(source, confirm), { objectMode: false });
  // A read error fails the request; without a listener, the event itself would end the process.
  for (const stream of [source, confirmed]) stream.on('error', () => undefined);
  return confirmed;
}
