import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { ClickHouseClient } from '@clickhouse/client';
import type { Session } from 'chdb';
import { OneAtATime } from '../one-at-a-time.js';
import { endsWithin, unlessAborted } from '../wait.js';
import { chdbConfigFile } from './chdb-config.js';
import { unlessTooLarge } from './errors.js';
import { type Engine, loadEngine } from './load-engine.js';
import { yieldMergeThreads } from './merge-threads.js';
import {
  type BlockData,
  type ClickHouse,
  type ClickHouseLimits,
  type ClickHouseReader,
  ClickHouseUnavailableError,
  type ConfirmInsert,
  DEFAULT_LIMITS,
  InsertCountError,
  type QueryOptions,
  type QueryParams,
  type SystemTable,
} from './port.js';
import { forgetLostParts } from './repair.js';
import { parseRows, ROWS_FORMAT } from './rows.js';
import {
  assignments,
  insertInto,
  insertSettings,
  literal,
  ownSystemTable,
  querySettings,
  resultBytesMax,
} from './sql.js';

export interface EmbeddedClickHouseOptions {
  readonly dataDir: string;
  readonly limits?: Partial<ClickHouseLimits>;
}

/** The engine holds one data directory per process. */
let openFolder: string | undefined;

/**
 * Opens ClickHouse inside this process, on `<dataDir>/clickhouse`, which is created if needed. Only the main thread may
 * do so: there is one engine per process, and it hangs when another thread that used it ends. Throws
 * ClickHouseUnavailableError where the native library is missing.
 */
export async function openEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<ClickHouse> {
  if (!isMainThread) throw new Error('The embedded ClickHouse must be opened by the main thread.');
  const engine = await loadEngine();
  mkdirSync(options.dataDir, { recursive: true });
  const folder = join(realpathSync(options.dataDir), 'clickhouse');
  if (openFolder !== undefined) throw new Error(`This process already has ClickHouse open on ${openFolder}.`);
  mkdirSync(join(folder, 'data'), { recursive: true });
  for (const name of readdirSync(folder)) {
    if (name.startsWith(INSERT_FILE_PREFIX) || name.startsWith(EXPORT_FILE_PREFIX))
      rmSync(join(folder, name));
  }
  forgetLostParts(join(folder, 'data'));
  openFolder = folder;
  try {
    return await EmbeddedClickHouse.open(engine, folder, { ...DEFAULT_LIMITS, ...options.limits });
  } catch (error) {
    openFolder = undefined;
    throw error;
  }
}

const INSERT_FILE_PREFIX = 'insert-';
const EXPORT_FILE_PREFIX = 'export-';
const KILL_INTERVAL_MS = 50;
/**
 * By default each thread requires 1 GiB of free memory for itself: more than the engine has, so that every query would
 * run on one thread.
 */
const THREADS_DESPITE_BOUNDED_MEMORY = { max_threads_min_free_memory_per_thread: '0' };

class EmbeddedClickHouse implements ClickHouse {
  readonly #engine: Engine;
  readonly #folder: string;
  /** Has the engine's configuration, and ends queries while the other sessions are busy with them. */
  readonly #keeper: Session;
  readonly #querying: ClickHouseClient;
  readonly #inserting: ClickHouseClient;
  #insertCount = 0;
  #queryCount = 0;
  readonly #running = new Set<Promise<unknown>>();
  readonly #lines = new OneAtATime(Number.POSITIVE_INFINITY);
  #closing: Promise<void> | undefined;

  private constructor(
    engine: Engine,
    folder: string,
    keeper: Session,
    // Queries of one session wait for each other: a slow analysis must not delay the inserts.
    querying: ClickHouseClient,
    inserting: ClickHouseClient,
  ) {
    this.#engine = engine;
    this.#folder = folder;
    this.#keeper = keeper;
    this.#querying = querying;
    this.#inserting = inserting;
  }

  static async open(engine: Engine, folder: string, limits: ClickHouseLimits): Promise<EmbeddedClickHouse> {
    const path = join(folder, 'data');
    const keeper = new engine.Session(path, { connectionArgs: [`--config-file=${chdbConfigFile(folder)}`] });
    const session = async (settings: ReturnType<typeof querySettings>): Promise<ClickHouseClient> => {
      const client = engine.createSession(path);
      // Set once here: the client would set its own settings again before each query, one by one, each as a small
      // query.
      await client.command({ query: `SET ${assignments(settings)}` });
      return client;
    };
    const querying = await session({ ...querySettings(limits), ...THREADS_DESPITE_BOUNDED_MEMORY });
    const inserting = await session({ session_timezone: 'UTC' });
    return new EmbeddedClickHouse(engine, folder, keeper, querying, inserting);
  }

  async query<Row>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Row[]> {
    return parseRows<Row>(await this.queryText(sql, params, options));
  }

  async queryText(sql: string, params: QueryParams = {}, options: QueryOptions = {}): Promise<string> {
    const { signal } = options;
    const mark = `query-${++this.#queryCount}`;
    const turn = this.#inLine('querying', () => {
      signal?.throwIfAborted();
      const settings = { log_comment: mark };
      const work = this.#querying.query({
        query: sql,
        format: ROWS_FORMAT,
        query_params: params,
        clickhouse_settings: settings,
      });
      onAbort(signal, work, () => {
        // The next query has this mark until its own settings are applied. A query that cannot be killed ends by
        // itself.
        const condition = `Settings['log_comment'] = ${literal(mark)} AND query_kind != 'Set'`;
        this.#kill(condition, [work]).catch(() => {});
      });
      return work.catch(async (error) => {
        await this.#discardAnswer();
        throw error;
      });
    });
    const result = await unlessAborted(turn, signal);
    return result.text();
  }

  /**
   * Discards the rows that a failed query has already produced. The engine would put them before the result of the
   * session's next query, which may be another tenant's. If this fails too, the next result is not one document, and is
   * refused.
   */
  async #discardAnswer(): Promise<void> {
    try {
      const next = await this.#querying.query({
        query: 'SELECT 1',
        format: ROWS_FORMAT,
        // Not the mark of the failed query, which a kill may be looking for at this moment.
        clickhouse_settings: { log_comment: '' },
      });
      await next.text();
    } catch {
      // The first error is the one to report.
    }
  }

  async exportRows(sql: string, params: QueryParams = {}): Promise<Buffer> {
    const folder = hasWildcard(this.#folder) ? tmpdir() : this.#folder;
    const file = join(folder, `${EXPORT_FILE_PREFIX}${process.pid}-${++this.#insertCount}.bin`);
    // A result in the engine's own buffer would be read as text.
    const query = `${sql} INTO OUTFILE ${literal(file)} FORMAT Native`;
    try {
      await this.#inLine('querying', () => this.#querying.command({ query, query_params: params }));
      return await readFile(file);
    } finally {
      await rm(file, { force: true });
    }
  }

  exportRowsUpTo(bytesMax: number, sql: string, params?: QueryParams): Promise<Buffer | undefined> {
    return unlessTooLarge(this.exportRows(`${sql} ${resultBytesMax(bytesMax)}`, params));
  }

  async upToDate(): Promise<ClickHouseReader> {
    return this;
  }

  systemTable(name: SystemTable): string {
    return ownSystemTable(name);
  }

  async reachesAll(): Promise<boolean> {
    return true;
  }

  async command(sql: string, params: QueryParams = {}): Promise<void> {
    await this.#inLine('inserting', () => this.#inserting.command({ query: sql, query_params: params }));
    // The engine creates its threads with the first table. Commands are rare, and each start begins with one.
    yieldMergeThreads();
  }

  async insertRows(
    table: string,
    columns: readonly string[],
    data: BlockData,
    rowCount: number,
    token: string,
    confirm?: ConfirmInsert,
  ): Promise<void> {
    const insert = insertInto(table, columns);
    const settings = `SETTINGS ${assignments(insertSettings(token))}`;
    await this.#withFile(data, async (file) => {
      // Binary data must not be part of the statement itself: the engine cuts it at the first blank line.
      const query = `${insert} FROM INFILE ${literal(file)} COMPRESSION 'none' ${settings} FORMAT Native`;
      const { summary } = await this.#inLine('inserting', async () => {
        await confirm?.();
        return this.#inserting.command({ query });
      });
      const taken = Number(summary?.read_rows);
      if (taken !== rowCount) throw new InsertCountError(table, taken, rowCount);
    });
  }

  /** No other process can use this engine, and its statements that change something run one after the other. */
  insertsEnded(): Promise<void> {
    return this.#inLine('inserting', async () => {});
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    while (this.#running.size > 0) await this.#kill('query_id != queryID()', [...this.#running]);
    await this.#querying.close();
    await this.#inserting.close();
    this.#keeper.close();
    await this.#engine.drainPending();
    openFolder = undefined;
  }

  /**
   * Runs statements of one session one after the other. In the engine, each waiting statement would block one of the
   * few threads on which Node reads and writes files; four would stop all file access.
   */
  #inLine<T>(session: string, begin: () => Promise<T>): Promise<T> {
    return this.#lines.run(session, () => {
      if (this.#closing !== undefined)
        throw new ClickHouseUnavailableError('The embedded ClickHouse is closed.');
      const work = begin();
      this.#running.add(work);
      return work.finally(() => this.#running.delete(work));
    });
  }

  /** Kills queries that match `condition`, and returns when `work` has ended. */
  async #kill(condition: string, work: readonly Promise<unknown>[]): Promise<void> {
    const over = Promise.allSettled(work);
    // Repeated, because the engine may not have begun the work yet.
    do {
      await this.#keeper.queryAsync(`KILL QUERY WHERE ${condition} ASYNC`);
    } while (!(await endsWithin(over, KILL_INTERVAL_MS)));
  }

  /** Passes a file that the engine can read; its name has no wildcards, which the engine would expand. */
  async #withFile(data: BlockData, work: (file: string) => Promise<void>): Promise<void> {
    const isPlain = 'file' in data && !hasWildcard(resolve(data.file));
    if (isPlain) return work(resolve(data.file));
    const folder = hasWildcard(this.#folder) ? tmpdir() : this.#folder;
    const file = join(folder, `${INSERT_FILE_PREFIX}${process.pid}-${++this.#insertCount}.bin`);
    try {
      if ('file' in data) await symlink(resolve(data.file), file);
      else await writeFile(file, data.bytes, { flag: 'wx', mode: 0o600 });
      await work(file);
    } finally {
      await rm(file, { force: true });
    }
  }
}

/** Calls `end` if `signal` aborts before `work` has ended. */
function onAbort(signal: AbortSignal | undefined, work: Promise<unknown>, end: () => void): void {
  if (signal === undefined) return;
  signal.addEventListener('abort', end, { once: true });
  const forget = () => signal.removeEventListener('abort', end);
  work.then(forget, forget);
}

function hasWildcard(path: string): boolean {
  return /[*?{}[\]]/.test(path);
}
