import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { CellError, EventRate, joinCell, type OwnCell, reportEvents } from '../modules/cells/index.js';
import { TenantGate } from '../modules/moves/index.js';
import type { Logger } from '../platform/log/index.js';
import { checkPostgresServer, connectPostgres, type Postgres } from '../platform/postgres/index.js';
import { createSweepJob } from '../platform/sweep-job.js';
import { StartError } from './start-error.js';
import { serverPlace } from './stores.js';

/** Few are enough: only look-ups of other cells' tenants, and new tenants, projects and keys, use the directory. */
export const DIRECTORY_CONNECTIONS_MAX = 5;
const REPORT_MS = 60_000;

export interface OpenCell {
  /** Undefined for an installation that is not a cell. */
  readonly own: OwnCell | undefined;
  /** The database of the directory; undefined without `own`. */
  readonly directory: Postgres | undefined;
  /** Refuses events of tenants that are moving. */
  readonly gate: TenantGate | undefined;
  /** Resolves if the directory responds. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** An installation that is not a cell. */
export const ALONE: OpenCell = {
  own: undefined,
  directory: undefined,
  gate: undefined,
  ping: async () => {},
  close: async () => {},
};

/**
 * Joins a process with the api role to the cell that its settings name.
 *
 * @throws StartError, MigrationError or PostgresUnavailableError with one sentence for the operator
 */
export async function openCell(config: Config, postgres: Postgres, log: Logger): Promise<OpenCell> {
  const { cell: name, directoryUrl } = config;
  if (name === undefined && directoryUrl === undefined) return ALONE;
  if (name === undefined || directoryUrl === undefined) {
    throw new StartError('TOLLGATE_DIRECTORY_URL and TOLLGATE_CELL belong together: set both or neither.');
  }
  if (config.serviceKey === undefined) {
    throw new StartError('A cell needs TOLLGATE_SERVICE_KEY, which must be the same in all cells.');
  }
  if (!config.roles.includes('api')) return ALONE;
  const directory = await openDirectory(directoryUrl, log);
  const abort = new AbortController();
  try {
    const own = await joinCell({
      ...{ directory, postgres, name, log, migrate: config.migrate },
      nowMs: () => systemClock.nowMs(),
    });
    const gate = new TenantGate(postgres);
    await gate.refresh();
    const watching = gate.job(log).run(abort.signal);
    const rate = new EventRate(postgres);
    const reporting = createSweepJob({
      sweep: async () => {
        await reportEvents(directory, name, await rate.measure());
        return 0;
      },
      pollMs: REPORT_MS,
      log,
      failureMessage: 'the load of this cell could not be reported to the directory',
    }).run(abort.signal);
    return {
      own,
      directory,
      gate,
      ping: async () => void (await directory.pool.query('select 1')),
      async close() {
        abort.abort();
        await Promise.all([reporting, watching]);
        await directory.close();
      },
    };
  } catch (error) {
    await directory.close();
    throw error instanceof CellError ? new StartError(error.message) : error;
  }
}

/** Connects to the database of the directory. @throws PostgresUnavailableError if it cannot be used */
export async function openDirectory(url: string, log: Logger): Promise<Postgres> {
  const directory = connectPostgres({
    connection: url,
    applicationName: 'tollgate directory',
    poolMax: DIRECTORY_CONNECTIONS_MAX,
    log,
  });
  try {
    const place = serverPlace(url);
    await checkPostgresServer(directory, { setting: 'TOLLGATE_DIRECTORY_URL', place, store: 'directory' });
    return directory;
  } catch (error) {
    await directory.close();
    throw error;
  }
}
