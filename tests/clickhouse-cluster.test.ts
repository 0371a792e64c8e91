import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterDatabase,
  clusterTitle,
  createClusterDatabase,
  givenCluster,
} from '../packages/service/src/testing/clickhouse-cluster.js';
import { createTestPostgres, type TestPostgres } from '../packages/service/src/testing/index.js';
import { processSampleEvents } from './support/sample-project.js';
import { newService, type RunningService } from './support/service.js';

const EVENTS = 50;

describe.runIf(givenCluster !== undefined)(clusterTitle('a service on a cluster of ClickHouse'), () => {
  let postgres: TestPostgres;
  let database: ClusterDatabase;
  let service: RunningService;
  beforeAll(async () => {
    postgres = await createTestPostgres();
    database = await createClusterDatabase();
    const env = {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: database.url,
      TOLLGATE_CLICKHOUSE_CLUSTER: givenCluster?.name ?? '',
    };
    service = await newService({ args: ['serve'], env, startsEmpty: true });
  }, 300_000);
  afterAll(async () => {
    await service.stop();
    await database.drop();
    await postgres.drop();
  }, 300_000);

  it('accepts, rates and projects, and verify finds both stores equal', async () => {
    await service.start({});
    await processSampleEvents(service, EVENTS);
    const { exitCode, stdout } = await service.runCommand(['verify']);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`${EVENTS}`)]);
    expect(await service.terminate()).toBe(0);
  });
});
