import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../config.js';
import { createMetrics, type Metrics } from '../platform/metrics/index.js';
import { connectPostgres, type Postgres } from '../platform/postgres/index.js';
import { VERSION } from '../platform/version.js';
import { createTestPostgres, type TestPostgres } from '../testing/index.js';
import { newScratchFolder } from '../testing/scratch-folder.js';
import { measureProcess } from './process-metrics.js';

let test: TestPostgres;
let postgres: Postgres;
beforeAll(async () => {
  test = await createTestPostgres();
  const log = pino({ level: 'silent' });
  postgres = connectPostgres({
    connection: test.connectionString,
    applicationName: 'measured',
    poolMax: 1,
    log,
  });
});
afterAll(async () => {
  await postgres.close();
  await test.drop();
});

function measured(environment: Record<string, string>): Metrics {
  const metrics = createMetrics();
  measureProcess(metrics, readConfig(environment), postgres);
  return metrics;
}

/** Returns the value of a metric without labels. */
async function metricValue(metrics: Metrics, name: string): Promise<number> {
  const text = await metrics.getSingleMetricAsString(name);
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

const SERVERS = {
  TOLLGATE_DATABASE_URL: 'postgresql://database/tollgate',
  TOLLGATE_CLICKHOUSE_URL: 'http://clickhouse:8123/tollgate',
};

describe('the metrics of a process', () => {
  it('name its versions', async () => {
    const text = await measured(SERVERS).getSingleMetricAsString('tollgate_build_info');
    expect(text).toContain(`tollgate_build_info{version="${VERSION}",node="${process.versions.node}"} 1`);
  });

  it('count connections, and requests that wait for one', async () => {
    const metrics = measured(SERVERS);
    const counts = async () => [
      await metricValue(metrics, 'tollgate_database_connections'),
      await metricValue(metrics, 'tollgate_database_connections_idle'),
      await metricValue(metrics, 'tollgate_database_connections_waiting'),
    ];
    expect(await counts()).toEqual([0, 0, 0]);
    const client = await postgres.pool.connect();
    const waiting = postgres.pool.query('select 1');
    expect(await counts()).toEqual([1, 0, 1]);
    client.release();
    await waiting;
    expect(await counts()).toEqual([1, 1, 0]);
  });

  it('show the disk of embedded stores, and no disk without them', async () => {
    const metrics = measured({ TOLLGATE_DATA_DIR: newScratchFolder('disk-') });
    const size = await metricValue(metrics, 'tollgate_data_dir_size_bytes');
    expect(size).toBeGreaterThan(0);
    expect(await metricValue(metrics, 'tollgate_data_dir_free_bytes')).toBeLessThanOrEqual(size);
    expect(measured(SERVERS).getSingleMetric('tollgate_data_dir_free_bytes')).toBeUndefined();
  });

  it('show the lag of ClickHouse only where a projector runs', () => {
    const name = 'tollgate_projection_oldest_seconds';
    expect(measured(SERVERS).getSingleMetric(name)).toBeDefined();
    expect(measured({ ...SERVERS, TOLLGATE_ROLES: 'api,worker' }).getSingleMetric(name)).toBeUndefined();
  });
});
