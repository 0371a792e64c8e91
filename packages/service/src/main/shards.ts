import { availableParallelism } from 'node:os';
import type { Config } from '../config.js';
import { SHARDS_MAX } from '../kernel/shard.js';
import { InstanceLockedError } from '../platform/instance-lock.js';
import type { Logger } from '../platform/log/index.js';
import {
  connectPostgres,
  isMissingTable,
  isUnavailable,
  type Postgres,
  type PostgresConfig,
  runningEmbeddedPostgres,
} from '../platform/postgres/index.js';
import { changeShards, chooseShards, readShards } from '../platform/queue/index.js';
import { exitOnSignal } from './signals.js';
import { StartError } from './start-error.js';
import { createCommandLog, withStores } from './with-stores.js';

/** `tollgate shards [N]`: shows the number of shards or changes it, whether the service runs or not. */
export async function shards(config: Config, argument: string): Promise<number> {
  const wanted = argument === '' ? undefined : readCount(argument);
  exitOnSignal();
  console.log(
    await withPostgres(config, async (postgres) => {
      if (wanted === undefined) return `${await readShards(postgres)}`;
      const before = await changeShards(postgres, wanted);
      return `The number of shards is ${wanted}; it was ${before}. Running processes use it within seconds.`;
    }),
  );
  return 0;
}

/** Stores the number of shards of a starting service: the configured one, or the default of a new installation. */
export async function startShards(
  { shards: wanted }: Config,
  postgres: Postgres,
  log: Pick<Logger, 'info'>,
): Promise<void> {
  if (wanted === undefined) {
    await chooseShards(postgres, shardsFor(availableParallelism()));
    return;
  }
  const before = await changeShards(postgres, wanted);
  if (before !== wanted) log.info({ shards: wanted, before }, 'changed the number of shards');
}

/** Returns the number of shards of a new installation whose first process has this many processor cores. */
export function shardsFor(cores: number): number {
  return cores <= 2 ? 1 : Math.min(SHARDS_MAX, 2 ** Math.ceil(Math.log2(cores)));
}

/** @throws StartError */
function readCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= SHARDS_MAX) return count;
  throw new StartError(`tollgate shards needs a whole number from 1 to ${SHARDS_MAX}, not "${text}".`);
}

/** Opens PostgreSQL without the other stores: that of a running service, or the embedded one if no service runs. */
async function withPostgres<T>(config: Config, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const log = createCommandLog(config);
  if (config.databaseUrl !== undefined) return withConnection(config.databaseUrl, log, work);
  try {
    return await withStores(config, log, ({ postgres }) => work(postgres));
  } catch (error) {
    if (!(error instanceof InstanceLockedError)) throw error;
    const connection = runningEmbeddedPostgres(config.dataDir);
    if (connection === undefined) throw error;
    return withConnection(connection, log, work);
  }
}

async function withConnection<T>(
  connection: PostgresConfig['connection'],
  log: Logger,
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const postgres = connectPostgres({ connection, applicationName: 'tollgate shards', poolMax: 1, log });
  try {
    return await work(postgres);
  } catch (error) {
    if (isUnavailable(error)) {
      throw new StartError(`PostgreSQL cannot be reached: ${(error as Error).message}.`);
    }
    if (!isMissingTable(error)) throw error;
    throw new StartError('The database has no number of shards yet: run tollgate migrate first.');
  } finally {
    await postgres.close();
  }
}
