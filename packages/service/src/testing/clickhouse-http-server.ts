import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { drainPending, Session } from 'chdb';
import { chdbConfigFile, identifier, literal } from '../platform/clickhouse/index.js';

/** Parameters travel in the URL; this is the server's own default of `http_max_uri_size`. */
const URL_BYTES_MAX = 1_048_576;

export interface ClickHouseHttpServer {
  /** Without a database; add one as the path. */
  readonly url: string;
  /** Ends the engine and deletes all data. */
  stop(): Promise<void>;
}

/**
 * Serves ClickHouse's HTTP interface from the embedded engine, so that code for a server is tested without one: queries
 * in the body or the URL, bound parameters, settings, databases, inserts with a body in any format, summaries and
 * errors. There are no users, no sessions, no compressed responses and no progress. Source:
 * https://clickhouse.com/docs/interfaces/http
 */
export async function startClickHouseHttpServer(): Promise<ClickHouseHttpServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clickhouse-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const engine = new Engine(folder);
  const server = createServer({ maxHeaderSize: URL_BYTES_MAX }, (request, response) => {
    answer(engine, request, response).catch((error: unknown) => sendError(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      await closeServer(server);
      await engine.close();
      process.off('exit', remove);
      remove();
    },
  };
}

interface Query {
  readonly text: string;
  readonly database: string;
  readonly format: string;
  /** Values as they are sent: escaped like a field of TabSeparated. */
  readonly params: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
}

interface Outcome {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
}

/**
 * The engine compiles an expression to machine code at its third use, which takes longer than to compute the few rows
 * of all tests without it. Embedded engines of services compile as they do for users.
 */
const NOTHING_COMPILED: readonly (readonly [string, string])[] = [
  ['compile_expressions', '0'],
  ['compile_aggregate_expressions', '0'],
  ['compile_sort_description', '0'],
];

/** Has a session for each request, so that settings and parameters of one do not affect the next. */
class Engine {
  readonly #folder: string;
  readonly #path: string;
  readonly #keeper: Session;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, 'data');
    this.#keeper = new Session(this.#path, { connectionArgs: [`--config-file=${serverConfigFile(folder)}`] });
  }

  async run(query: Query): Promise<Outcome> {
    const session = new Session(this.#path);
    const params = [...query.params].map(([name, value]) => [`param_${name}`, value] as const);
    const values = [...NOTHING_COMPILED, ...query.settings, ...params].map(
      ([name, value]) => `${identifier(name)} = ${literal(value)}`,
    );
    // In one statement, because each takes a tenth of a millisecond, and most requests have ten settings.
    const set = `SET ${values.join(', ')}; `;
    try {
      const result = await session.queryAsync(`USE ${identifier(query.database)}; ${set}${query.text}`, {
        format: query.format,
      });
      return { bytes: result.bytes(), rowsRead: result.rowsRead };
    } finally {
      session.close();
    }
  }

  /** The engine reads a body correctly from a file only: it cuts binary data in a statement. */
  async insert(
    query: Query,
    insert: { head: string; format: string },
    body: IncomingMessage,
  ): Promise<Outcome> {
    const file = join(this.#folder, `${randomUUID()}.body`);
    try {
      await pipeline(decompress(body), createWriteStream(file));
      if (statSync(file).size === 0) return { bytes: new Uint8Array(), rowsRead: 0 };
      const text = `${insert.head} FROM INFILE ${literal(file)} COMPRESSION 'none' FORMAT ${insert.format}`;
      return await this.run({ ...query, text });
    } finally {
      await rm(file, { force: true });
    }
  }

  async close(): Promise<void> {
    await this.#keeper.queryAsync('KILL QUERY WHERE query_id != queryID() ASYNC');
    this.#keeper.close();
    await drainPending();
  }
}

/**
 * Clusters and macros as a server has them: `replicas` has this engine and a lost replica, `shards` has two shards.
 * There is no Keeper, so nothing is replicated. The engine listens on no port: it recognizes itself by it.
 */
const CLUSTERS = `
  <tcp_port>9000</tcp_port>
  <macros><shard>1</shard><replica>test</replica></macros>
  <remote_servers>
    <replicas><shard>
      <replica><host>127.0.0.1</host><port>9000</port></replica>
      <replica><host>127.0.0.1</host><port>1</port></replica>
    </shard></replicas>
    <shards>
      <shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>
      <shard><replica><host>127.0.0.1</host><port>1</port></replica></shard>
    </shards>
  </remote_servers>`;

function serverConfigFile(folder: string): string {
  const path = chdbConfigFile(folder);
  writeFileSync(path, readFileSync(path, 'utf8').replace('</clickhouse>', `${CLUSTERS}</clickhouse>`));
  return path;
}

async function answer(engine: Engine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const query = readQuery(url.searchParams);
  const insert = /^(\s*INSERT\s+INTO\b.*?)\s+FORMAT\s+(\w+)\s*$/is.exec(query.text);
  const [, head, format] = insert ?? [];
  const outcome =
    head !== undefined && format !== undefined
      ? await engine.insert(query, { head, format }, request)
      : await engine.run({ ...query, text: `${query.text}${await readText(request)}` });
  response.setHeader('X-ClickHouse-Query-Id', url.searchParams.get('query_id') ?? randomUUID());
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  response.setHeader('X-ClickHouse-Summary', summaryOf(outcome, insert !== null));
  response.end(outcome.bytes);
}

/** Names in the URL that are neither parameters of the query nor settings that the embedded engine knows. */
const TRANSPORT_NAMES =
  /^(query|query_id|database|default_format|session_\w+|role|compress|decompress|wait_end_of_query)$|http/;

function readQuery(search: URLSearchParams): Query {
  const entries = [...search];
  const params = entries
    .filter(([name]) => name.startsWith('param_'))
    .map(([name, value]) => [name.slice('param_'.length), value] as const);
  const settings = entries.filter(([name]) => !name.startsWith('param_') && !TRANSPORT_NAMES.test(name));
  return {
    text: search.get('query') ?? '',
    database: search.get('database') ?? 'default',
    format: search.get('default_format') ?? 'TabSeparated',
    params: new Map(params),
    settings: new Map(settings),
  };
}

function decompress(request: IncomingMessage): NodeJS.ReadableStream {
  return request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of decompress(request)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function summaryOf({ rowsRead, bytes }: Outcome, isInsert: boolean): string {
  const read = String(rowsRead);
  return JSON.stringify({
    read_rows: read,
    read_bytes: '0',
    written_rows: isInsert ? read : '0',
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: isInsert ? read : '0',
    result_bytes: String(bytes.length),
    elapsed_ns: '0',
  });
}

/** Errors with the status 404 or 400; any other is a 500. */
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['60', 404], // UNKNOWN_TABLE
  ['81', 404], // UNKNOWN_DATABASE
  ['62', 400], // SYNTAX_ERROR
]);

function sendError(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = /Code: (\d+)/.exec(message)?.[1] ?? '1002';
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(STATUS_BY_CODE.get(code) ?? 500, { 'X-ClickHouse-Exception-Code': code });
  response.end(
    message.startsWith('Code:') ? message : `Code: ${code}. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`,
  );
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
