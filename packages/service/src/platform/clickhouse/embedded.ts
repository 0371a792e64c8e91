import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Session } from 'chdb';
import { chdbConfigFile } from './chdb-config.js';
import {
  type ClickHouse,
  type ClickHouseLimits,
  ClickHouseUnavailableError,
  DEFAULT_LIMITS,
  InsertCountError,
  type QueryOptions,
  type QueryParams,
  type RowBinaryData,
} from './port.js';
import { forgetLostParts } from './repair.js';
import { insertInto, insertSettings, literal, querySettings, settingsClause } from './sql.js';

export interface EmbeddedClickHouseOptions {
  readonly dataDir: string;
  readonly limits?: Partial<ClickHouseLimits>;
}

/** The engine holds one data directory per process. */
let openFolder: string | undefined;

/**
 * Opens ClickHouse inside this process, on `<dataDir>/clickhouse`, which is created if need be. Only the main thread may do
 * so: the engine is one per process, and the end of any other thread that used it would leave it hanging.
 * Throws ClickHouseUnavailableError where the native library is missing.
 */
export async function openEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<ClickHouse> {
  if (!isMainThread) throw new Error('The embedded ClickHouse must be opened by the main thread.');
  const engine = await loadEngine();
  mkdirSync(options.dataDir, { recursive: true });
  const folder = join(realpathSync(options.dataDir), 'clickhouse');
  if (openFolder !== undefined) throw new Error(`This process already has ClickHouse open on ${openFolder}.`);
  mkdirSync(join(folder, 'data'), { recursive: true });
  for (const name of readdirSync(folder)) {
    if (name.startsWith(INSERT_FILE_PREFIX)) rmSync(join(folder, name));
  }
  forgetLostParts(join(folder, 'data'));
  openFolder = folder;
  try {
    return EmbeddedClickHouse.open(engine, folder, { ...DEFAULT_LIMITS, ...options.limits });
  } catch (error) {
    openFolder = undefined;
    throw error;
  }
}

/** The two packages declare the same interface, each with classes of its own. */
type ClientConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>;

type Engine = Pick<typeof import('chdb'), 'Session' | 'drainPending'> &
  Pick<typeof import('chdb/connection'), 'createChdbConnection'>;

async function loadEngine(): Promise<Engine> {
  try {
    const [{ Session, drainPending }, { createChdbConnection }] = await Promise.all([
      import('chdb'),
      import('chdb/connection'),
    ]);
    return { Session, drainPending, createChdbConnection };
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new ClickHouseUnavailableError(
      `The embedded ClickHouse cannot be loaded (${reason}); install without --omit=optional, or set TOLLGATE_CLICKHOUSE_URL to use a ClickHouse server.`,
      { cause: error },
    );
  }
}

const INSERT_FILE_PREFIX = 'insert-';
const KILL_INTERVAL_MS = 50;
/** By default a thread wants a GiB of free memory for itself: more than the engine has, so that every query would run on one. */
const THREADS_DESPITE_BOUNDED_MEMORY = { max_threads_min_free_memory_per_thread: '0' };

class EmbeddedClickHouse implements ClickHouse {
  private insertCount = 0;
  private readonly running = new Set<Promise<unknown>>();
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly engine: Engine,
    private readonly folder: string,
    /** Carries the engine's configuration, and ends queries while the other sessions are busy with them. */
    private readonly keeper: Session,
    // Queries of one session wait for each other: a slow analysis must not hold up the inserts.
    private readonly querying: ClickHouseClient,
    private readonly inserting: ClickHouseClient,
  ) {}

  static open(engine: Engine, folder: string, limits: ClickHouseLimits): EmbeddedClickHouse {
    const path = join(folder, 'data');
    const keeper = new engine.Session(path, { connectionArgs: [`--config-file=${chdbConfigFile(folder)}`] });
    const client = (settings: ReturnType<typeof querySettings>) =>
      createClient({
        connection: engine.createChdbConnection({ path }) as unknown as ClientConnection,
        clickhouse_settings: settings,
        log: { level: ClickHouseLogLevel.OFF },
      });
    const querying = client({ ...querySettings(limits), ...THREADS_DESPITE_BOUNDED_MEMORY });
    const inserting = client({ session_timezone: 'UTC' });
    return new EmbeddedClickHouse(engine, folder, keeper, querying, inserting);
  }

  async query<Row>(sql: string, params: QueryParams = {}, options: QueryOptions = {}): Promise<Row[]> {
    const signal = options.signal === undefined ? {} : { abort_signal: options.signal };
    const result = await this.track(
      this.querying.query({ query: sql, format: 'JSONEachRow', query_params: params, ...signal }),
    );
    return result.json<Row>();
  }

  async command(sql: string, params: QueryParams = {}): Promise<void> {
    await this.track(this.inserting.command({ query: sql, query_params: params }));
  }

  async insertRows(
    table: string,
    columns: readonly string[],
    data: RowBinaryData,
    rowCount: number,
    token: string,
  ): Promise<void> {
    const insert = insertInto(table, columns);
    const settings = settingsClause(insertSettings(token));
    await this.withFile(data, async (file) => {
      // Binary data must not stand in the statement itself: the engine cuts that at the first blank line.
      const query = `${insert} FROM INFILE ${literal(file)} COMPRESSION 'none' ${settings} FORMAT RowBinary`;
      const { summary } = await this.track(this.inserting.command({ query }));
      const taken = Number(summary?.read_rows);
      if (taken !== rowCount) throw new InsertCountError(table, taken, rowCount);
    });
  }

  close(): Promise<void> {
    this.closing ??= this.release();
    return this.closing;
  }

  private async release(): Promise<void> {
    // Again and again, because the engine may not have begun yet with what was asked of it.
    while (this.running.size > 0) {
      await this.keeper.queryAsync('KILL QUERY WHERE query_id != queryID() ASYNC');
      await Promise.race([Promise.allSettled(this.running), delay(KILL_INTERVAL_MS)]);
    }
    await this.querying.close();
    await this.inserting.close();
    this.keeper.close();
    await this.engine.drainPending();
    openFolder = undefined;
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.running.add(work);
    const forget = () => this.running.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** A file that the engine reads under a name without wildcards, which it would expand. */
  private async withFile(data: RowBinaryData, work: (file: string) => Promise<void>): Promise<void> {
    const isPlain = 'file' in data && !hasWildcard(resolve(data.file));
    if (isPlain) return work(resolve(data.file));
    const folder = hasWildcard(this.folder) ? tmpdir() : this.folder;
    const file = join(folder, `${INSERT_FILE_PREFIX}${process.pid}-${++this.insertCount}.bin`);
    try {
      if ('file' in data) await symlink(resolve(data.file), file);
      else await writeFile(file, data.bytes, { flag: 'wx', mode: 0o600 });
      await work(file);
    } finally {
      await rm(file, { force: true });
    }
  }
}

function hasWildcard(path: string): boolean {
  return /[*?{}[\]]/.test(path);
}
