import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.js';
import type { BlockArchive } from '../modules/archive/index.js';
import type { Spool } from '../modules/pipeline/index.js';
import { replaceViews } from '../modules/rebuild/index.js';
import { dedicatedSuffixes } from '../modules/storage/index.js';
import {
  applyClickHouseMigrations,
  type ClickHouse,
  checkClickHouseMigrations,
  openClickHouseServer,
  openEmbeddedClickHouse,
} from '../platform/clickhouse/index.js';
import { hostUrls } from '../platform/host-urls.js';
import type { Logger } from '../platform/log/index.js';
import {
  claimObjectStore,
  describeObjectStore,
  type ObjectKind,
  type ObjectStore,
  openObjectStore,
} from '../platform/object-store/index.js';
import {
  applyMigrations,
  checkMigrations,
  checkPostgresServer,
  connectPostgres,
  type EmbeddedPostgres,
  type Postgres,
  type PostgresConfig,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  withAdvisoryLock,
} from '../platform/postgres/index.js';
import { Closers } from './closers.js';
import { type LocalFolders, localFolders, privateFolders } from './data-dir.js';
import { objectKinds, openArchive, openSpool } from './passing-bytes.js';
import { StartError } from './start-error.js';
import { databaseConnectionsOf } from './workers.js';

/** ClickHouse has no transactions: this lock in PostgreSQL keeps migrations of one server apart. */
const CLICKHOUSE_MIGRATION_LOCK = 'tollgate/migrations/clickhouse';

/** Both stores, open and at this release's schema. */
export interface Stores {
  readonly postgres: Postgres;
  readonly postgresConnection: PostgresConfig['connection'];
  /** Identifies this process as an owner of leases. */
  readonly owner: string;
  readonly clickhouse: ClickHouse;
  /** The folders for large segments and rows next to an embedded database; undefined for a server. */
  readonly folders: LocalFolders | undefined;
  /** The object store for them with a server; undefined if the server stores them itself. */
  readonly objects: ObjectStore | undefined;
  /** Keeps the rows that wait for ClickHouse. */
  readonly spool: Spool;
  /** The archive of the rows in ClickHouse; undefined without a place for it. */
  readonly archive: BlockArchive | undefined;
  /** The name of each store and where its data are. */
  readonly places: readonly (readonly [name: string, place: string])[];
  /** Names of the migrations that were applied now. */
  readonly applied: readonly string[];
  close(): Promise<void>;
}

export interface StoreEvents {
  readonly log: Logger;
  /** Called with the current step, for people who wait. */
  readonly onProgress: (step: string) => void;
  /** Called when the embedded PostgreSQL ended by itself; the reason is one sentence. */
  readonly onUnexpectedExit: (reason: string) => void;
  /** Aborts the opening with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Starts or connects both stores and migrates them. When a later step fails, opened stores are closed again. */
export async function openStores(config: Config, events: StoreEvents): Promise<Stores> {
  const closers = new Closers();
  try {
    checkObjectStoreSetting(config);
    checkClickHouseSettings(config);
    const embedded = await startPostgresIfEmbedded(config, events);
    if (embedded !== undefined) closers.add(() => embedded.stop());
    const postgresConnection = embedded?.connection ?? (config.databaseUrl as string);
    const owner = randomUUID();
    const postgres = connectPostgres({
      connection: postgresConnection,
      applicationName: `tollgate ${owner}`,
      poolMax: config.databaseConnectionsMax,
      log: events.log,
    });
    closers.add(() => postgres.close());
    if (config.databaseUrl !== undefined) {
      const place = serverPlace(config.databaseUrl);
      await checkPostgresServer(postgres, { setting: 'TOLLGATE_DATABASE_URL', place, store: 'postgres' });
    }
    const appliedToPostgres = await migratePostgres(config, postgres, events);
    events.signal?.throwIfAborted();
    const objects = await openObjects(config, postgres);
    closers.add(() => objects?.close());
    const folders = embedded === undefined ? undefined : localFolders(config.dataDir);
    const [spool, archive] = [await openSpool({ folders, objects }), await openArchive({ folders, objects })];
    const clickhouse = await openClickHouse(config, events);
    closers.add(() => clickhouse.close());
    const appliedToClickHouse = await migrateClickHouse(config, postgres, clickhouse);
    return {
      postgres,
      postgresConnection,
      owner,
      clickhouse,
      objects,
      spool,
      archive,
      folders,
      places: describePlaces(config, embedded),
      applied: [...appliedToPostgres, ...appliedToClickHouse],
      close: () => closers.closeAll(),
    };
  } catch (error) {
    return closers.closeAfter(error);
  }
}

async function migratePostgres(
  { migrate }: Config,
  postgres: Postgres,
  { log, signal }: StoreEvents,
): Promise<string[]> {
  if (migrate) return applyMigrations(postgres, { log, signal });
  await checkMigrations(postgres);
  return [];
}

async function migrateClickHouse(
  { migrate }: Config,
  postgres: Postgres,
  clickhouse: ClickHouse,
): Promise<string[]> {
  const suffixes = () => dedicatedSuffixes(postgres);
  if (migrate) {
    return withAdvisoryLock(postgres, CLICKHOUSE_MIGRATION_LOCK, async () => {
      const applied = await applyClickHouseMigrations(clickhouse, undefined, await suffixes());
      await replaceViews({ postgres, clickhouse }, await suffixes());
      return applied;
    });
  }
  await checkClickHouseMigrations(clickhouse, await suffixes());
  return [];
}

/** Deletes everything that the embedded stores keep. The caller holds the instance lock. */
export async function resetEmbeddedStores({ dataDir }: Config): Promise<void> {
  await removeEmbeddedPostgres(dataDir);
  for (const folder of privateFolders(dataDir)) await rm(folder, { recursive: true, force: true });
}

/** @throws StartError if the embedded database is used, which keeps these bytes in files */
function checkObjectStoreSetting({ objectStoreUrl, databaseUrl }: Config): void {
  if (objectStoreUrl === undefined || databaseUrl !== undefined) return;
  throw new StartError(
    'TOLLGATE_OBJECT_STORE_URL needs TOLLGATE_DATABASE_URL, because the embedded PostgreSQL keeps these bytes in the data directory. Set both, or neither.',
  );
}

/** @throws StartError if the hosts of ClickHouse and its cluster do not fit */
function checkClickHouseSettings({ clickhouseUrl, clickhouseCluster }: Config): void {
  if (clickhouseUrl === undefined && clickhouseCluster !== undefined) {
    throw new StartError(
      'TOLLGATE_CLICKHOUSE_CLUSTER needs TOLLGATE_CLICKHOUSE_URL, because the embedded ClickHouse has no replicas. Set both, or neither.',
    );
  }
  if (clickhouseCluster === undefined && hostUrls(clickhouseUrl ?? '').length > 1) {
    throw new StartError(
      'TOLLGATE_CLICKHOUSE_URL names several hosts: set TOLLGATE_CLICKHOUSE_CLUSTER to the name of the cluster whose replicas they are.',
    );
  }
}

/** @throws StartError if the store cannot be opened, or does not belong to this installation */
async function openObjects({ objectStoreUrl }: Config, postgres: Postgres): Promise<ObjectStore | undefined> {
  if (objectStoreUrl === undefined) return undefined;
  const place = describeObjectStore(objectStoreUrl);
  let store: ObjectStore | undefined;
  try {
    store = await openObjectStore(objectStoreUrl);
    await claimObjectStore(store, postgres, place, () => isAnyInUse(objectKinds(postgres)));
    return store;
  } catch (error) {
    await store?.close();
    throw new StartError(`TOLLGATE_OBJECT_STORE_URL cannot be used (${place}): ${(error as Error).message}.`);
  }
}

async function isAnyInUse(kinds: readonly ObjectKind[]): Promise<boolean> {
  for (const { isInUse } of kinds) if (await isInUse()) return true;
  return false;
}

async function startPostgresIfEmbedded(
  config: Config,
  { log, onProgress, onUnexpectedExit, signal }: StoreEvents,
): Promise<EmbeddedPostgres | undefined> {
  if (config.databaseUrl !== undefined) return undefined;
  onProgress('starting PostgreSQL');
  const settings = { max_connections: String(databaseConnectionsOf(config)) };
  return startEmbeddedPostgres({ dataDir: config.dataDir, log, onUnexpectedExit, signal, settings });
}

async function openClickHouse(config: Config, { onProgress }: StoreEvents): Promise<ClickHouse> {
  const { clickhouseUrl: url, clickhouseCluster: clusterName } = config;
  if (url !== undefined) return openClickHouseServer({ url, clusterName, place: serverPlace(url) });
  onProgress('opening ClickHouse');
  return openEmbeddedClickHouse({ dataDir: config.dataDir });
}

function describePlaces(config: Config, embedded: EmbeddedPostgres | undefined): Stores['places'] {
  const account = embedded?.accountName === undefined ? '' : ` (run as ${embedded.accountName})`;
  return [
    [
      'PostgreSQL',
      embedded === undefined ? serverPlace(config.databaseUrl) : embedded.clusterFolder + account,
    ],
    [
      'ClickHouse',
      config.clickhouseUrl === undefined
        ? join(config.dataDir, 'clickhouse')
        : serverPlace(config.clickhouseUrl),
    ],
    ...(config.objectStoreUrl === undefined
      ? []
      : [['Object store', describeObjectStore(config.objectStoreUrl)] as const]),
  ];
}

/** Hosts and database of a URL, without its credentials. */
export function serverPlace(url: string | undefined): string {
  const urls = hostUrls(url ?? '').map((one) => new URL(one));
  return urls.map(({ host }) => host).join(',') + urls[0]?.pathname;
}
