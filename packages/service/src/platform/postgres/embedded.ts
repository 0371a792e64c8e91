import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { holdsWithin } from '../wait.js';
import { type PostgresBinaries, PostgresUnavailableError, preparePostgresBinaries } from './binaries.js';
import { ensureCluster, readPassword, SERVER_ENV, SUPERUSER } from './cluster.js';
import { clearLeftover } from './leftover.js';
import { type ClusterPlacement, placeCluster } from './placement.js';

/** How to reach a PostgreSQL database; `host` is the folder of a unix socket. */
export interface PostgresConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called once if the server ends without `stop` having been called; the reason is one sentence. */
  readonly onUnexpectedExit?: (reason: string) => void;
  /** Aborts the start with the signal's reason, and ends the processes that were started. */
  readonly signal?: AbortSignal | undefined;
  /** Server settings that replace the defaults, e.g. `{ fsync: 'off' }` for a temporary cluster. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Timeout of the start; the default is enough after a crash. */
  readonly startTimeoutMs?: number;
}

export interface EmbeddedPostgres {
  readonly connection: PostgresConnection;
  readonly pid: number;
  /** The folder of the cluster; `logFile` is the server's own log. */
  readonly clusterFolder: string;
  readonly logFile: string;
  /** The account that the server runs under, when it is not the caller's. */
  readonly accountName: string | undefined;
  /** Whether the cluster had to be placed outside the data directory, where the server's account can reach it. */
  readonly isOutsideDataDir: boolean;
  /** Stops the server: in order, then at once, then by force. Safe to call twice. */
  stop(): Promise<void>;
}

export const DATABASE = 'tollgate';
/** Part of the socket file's name; nothing listens on TCP. */
const SOCKET_PORT = 5432;
/** Timeout of a start, which may have to replay the log after a crash. */
const START_TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 10;
/** While PostgreSQL recovers, each try leaves a line in its log, so tries become rarer: their pause grows by this. */
const POLL_GROWTH = 0.05;
const FAST_STOP_TIMEOUT_MS = 6_000;
const FORCED_STOP_TIMEOUT_MS = 2_000;
const LOG_BYTES_MAX = 8 * 1_048_576;
const LOG_TAIL_LINES = 8;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(SOCKET_PORT),
  unix_socket_permissions: '0700',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // The package's build has no lz4, and pglz costs more time than it saves.
  wal_compression: 'off',
  shared_buffers: '256MB',
  max_connections: '100',
  max_wal_size: '4GB',
  // A checkpoint keeps at least this much of the log to be reused: commits wait while a new file is created.
  min_wal_size: '1GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  // The workload is short transactions of many workers: neither parallel nor compiled plans pay, and /dev/shm may be
  // tiny.
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

/**
 * Starts PostgreSQL on the cluster of a data directory, creates the cluster if needed, and returns once the server
 * accepts connections. Servers that a killed service left behind are ended first: the caller must hold the directory's
 * instance lock. If this process ends without `stop`, the server ends with it, as in a crash; only SIGKILL orphans it.
 * Throws PostgresUnavailableError if the programs are missing or fail.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const placement = await placeCluster(options.dataDir);
  const binaries = await preparePostgresBinaries(placement.account, placement.baseFolder);
  await ensureCluster(placement, binaries);
  const ended = await clearLeftover(placement.clusterFolder);
  if (ended.length > 0)
    options.log.warn({ pids: ended }, 'ended a PostgreSQL server left by a killed service');
  const server = new Server(spawnServer(placement, binaries, options.settings ?? {}), placement.logFile);
  const connection = {
    host: placement.socketFolder,
    port: SOCKET_PORT,
    user: SUPERUSER,
    password: readPassword(placement),
    database: DATABASE,
  };
  try {
    await waitUntilReady(server, connection, options.startTimeoutMs ?? START_TIMEOUT_MS, options.signal);
  } catch (error) {
    await server.stop();
    throw error;
  }
  server.watch((reason) => {
    options.log.error({ reason }, 'PostgreSQL ended unexpectedly');
    options.onUnexpectedExit?.(reason);
  });
  return {
    connection,
    pid: server.pid,
    clusterFolder: placement.clusterFolder,
    logFile: placement.logFile,
    accountName: placement.account?.name,
    isOutsideDataDir: placement.isOutsideDataDir,
    stop: async () => {
      await server.stop();
      rmSync(placement.socketFolder, { recursive: true, force: true });
    },
  };
}

function spawnServer(
  placement: ClusterPlacement,
  binaries: PostgresBinaries,
  overrides: Readonly<Record<string, string>>,
): ChildProcess {
  const settings = { ...SETTINGS, ...overrides, unix_socket_directories: placement.socketFolder };
  const size = statSync(placement.logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES_MAX) renameSync(placement.logFile, `${placement.logFile}.1`);
  // A file, not a pipe: the server must be able to write after the service has ended.
  const logFd = openSync(placement.logFile, 'a', 0o600);
  const { account } = placement;
  try {
    return spawn(
      binaries.postgres,
      [
        '-D',
        placement.clusterFolder,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
        cwd: '/',
        env: SERVER_ENV,
        // A session of its own: the terminal's Ctrl-C must reach the service only, which then stops everything in
        // order.
        detached: true,
        stdio: ['ignore', logFd, logFd],
      },
    );
  } finally {
    closeSync(logFd);
  }
}

/** The postmaster as a child process. */
class Server {
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly pid: number;
  #ending: string | undefined;
  #onEnd: ((reason: string) => void) | undefined;
  #isStopping = false;
  readonly #killAtExit = () => void this.#child.kill('SIGQUIT');

  constructor(child: ChildProcess, logFile: string) {
    this.#child = child;
    this.#logFile = logFile;
    this.pid = child.pid ?? -1;
    child.once('error', (error) => this.#end(`PostgreSQL could not be started: ${error.message}.`));
    child.once('exit', (code, signal) =>
      this.#end(`PostgreSQL ended with ${signal ?? `exit code ${code}`}.`),
    );
    child.unref();
    process.once('exit', this.#killAtExit);
  }

  /** The reason why the server has ended; undefined while it runs. */
  get endReason(): string | undefined {
    return this.#ending;
  }

  watch(onEnd: (reason: string) => void): void {
    this.#onEnd = onEnd;
    if (this.#ending !== undefined && !this.#isStopping) onEnd(this.#ending);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const [signal, timeoutMs] of [
      ['SIGINT', FAST_STOP_TIMEOUT_MS],
      ['SIGQUIT', FORCED_STOP_TIMEOUT_MS],
      ['SIGKILL', FORCED_STOP_TIMEOUT_MS],
    ] as const) {
      if (this.#ending !== undefined) return;
      this.#child.kill(signal);
      await holdsWithin(() => this.#ending !== undefined, timeoutMs, POLL_INTERVAL_MS);
    }
  }

  #end(reason: string): void {
    if (this.#ending !== undefined) return;
    process.off('exit', this.#killAtExit);
    this.#ending = `${reason} ${this.#logTail()}`.trim();
    if (!this.#isStopping) this.#onEnd?.(this.#ending);
  }

  #logTail(): string {
    if (!existsSync(this.#logFile)) return '';
    const lines = readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES);
    return `The end of ${this.#logFile}: ${lines.join(' | ')}`;
  }
}

/** Tries to connect until it works; the first start also creates the database here. */
async function waitUntilReady(
  server: Server,
  connection: PostgresConnection,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const socket = join(connection.host, `.s.PGSQL.${connection.port}`);
  const startMs = performance.now();
  const deadline = startMs + timeoutMs;
  let lastError = 'its socket did not appear';
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    if (server.endReason !== undefined) throw new PostgresUnavailableError(server.endReason);
    if (existsSync(socket)) {
      const code = await tryConnection(connection);
      if (code === undefined) return;
      if (code === MISSING_DATABASE) await createDatabase(connection);
      else if (!STARTING_UP.has(code))
        throw new PostgresUnavailableError(`PostgreSQL refuses its own service: ${code}.`);
      lastError = code;
    }
    await delay(Math.max(POLL_INTERVAL_MS, (performance.now() - startMs) * POLL_GROWTH));
  }
  throw new PostgresUnavailableError(
    `PostgreSQL did not get ready within ${timeoutMs / 1000} s: ${lastError}.`,
  );
}

const MISSING_DATABASE = '3D000';
/** The server does not listen yet, or still replays its log (cannot_connect_now). */
const STARTING_UP = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET', '57P03']);

/** Returns undefined when it worked, otherwise the error's code. */
async function tryConnection(connection: PostgresConnection): Promise<string | undefined> {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code ?? (error as Error).message;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createDatabase(connection: PostgresConnection): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  try {
    await client.connect();
    await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}
