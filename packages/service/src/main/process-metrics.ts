import { statfsSync } from 'node:fs';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { measureProjection } from '../modules/pipeline/index.js';
import { addReadGauge, Gauge, type Metrics } from '../platform/metrics/index.js';
import type { Postgres } from '../platform/postgres/index.js';
import { VERSION } from '../platform/version.js';
import { usesEmbeddedStore } from './instance.js';

/** Adds the metrics that every process of the service has, and those of its projector and its embedded stores. */
export function measureProcess(metrics: Metrics, config: Config, postgres: Pick<Postgres, 'pool'>): void {
  addBuildInfo(metrics);
  measurePool(metrics, postgres.pool);
  if (usesEmbeddedStore(config)) measureDisk(metrics, config.dataDir);
  if (config.roles.includes('projector')) measureProjection(metrics, { postgres, clock: systemClock });
}

/** The value of an information metric is always 1; its labels carry the information. */
function addBuildInfo(metrics: Metrics): void {
  new Gauge({
    name: 'tollgate_build_info',
    help: 'Versions of Tollgate and of Node.js; the value is always 1.',
    labelNames: ['version', 'node'],
    registers: [metrics],
  }).set({ version: VERSION, node: process.versions.node }, 1);
}

/**
 * Adds the metrics of a pool of PostgreSQL connections. Accepting processes add theirs to those of the main process.
 * Threads have pools of their own, which are not counted: each uses few connections at a time.
 */
export function measurePool(metrics: Metrics, pool: Postgres['pool']): void {
  addReadGauge(
    metrics,
    'tollgate_database_connections',
    'Open PostgreSQL connections, except those of threads.',
    () => pool.totalCount,
  );
  addReadGauge(
    metrics,
    'tollgate_database_connections_idle',
    'Open PostgreSQL connections that do nothing, except those of threads.',
    () => pool.idleCount,
  );
  addReadGauge(
    metrics,
    'tollgate_database_connections_waiting',
    'Requests that wait for a free PostgreSQL connection, except those of threads.',
    () => pool.waitingCount,
  );
}

/** Adds the disk of embedded stores; a server watches its own. */
function measureDisk(metrics: Metrics, dataDir: string): void {
  addReadGauge(
    metrics,
    'tollgate_data_dir_free_bytes',
    'Free bytes of the disk with the data directory.',
    () => {
      const { bavail, bsize } = statfsSync(dataDir);
      return bavail * bsize;
    },
  );
  addReadGauge(metrics, 'tollgate_data_dir_size_bytes', 'Size of the disk with the data directory.', () => {
    const { blocks, bsize } = statfsSync(dataDir);
    return blocks * bsize;
  });
}
