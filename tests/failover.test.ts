import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClickHouse, type TestClickHouse, waitFor } from '../packages/service/src/testing/index.js';
import {
  hasLoopbackNetwork,
  ReplicatedPostgres,
} from '../packages/service/src/testing/replicated-postgres.js';
import { createChargedProject, expectExactUsage } from './support/exact-usage.js';
import { call } from './support/http.js';
import { LoadProcess } from './support/load-process.js';
import type { SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const REQUESTS = 20;
const SETTLE = { timeoutMs: 180_000 };
const title = hasLoopbackNetwork ? '' : ', skipped because it needs Linux';

describe.runIf(hasLoopbackNetwork)(`a service with the URL of a primary and its standby${title}`, () => {
  let servers: ReplicatedPostgres;
  let clickhouse: TestClickHouse;
  let service: RunningService;
  let project: SampleProject;
  let load: LoadProcess;

  beforeAll(async () => {
    [servers, clickhouse] = await Promise.all([ReplicatedPostgres.start(), createTestClickHouse()]);
    const env = { TOLLGATE_DATABASE_URL: servers.url, TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
    service = await startService({ env, startsEmpty: true });
    project = await createChargedProject(service);
    const occurredAt = Math.floor(Date.now() / 1_000) - 3_600;
    load = new LoadProcess({ url: service.url, projects: [project], clients: 4, pauseMs: 20, occurredAt });
  });
  afterAll(async () => {
    load?.kill();
    await service?.stop();
    await Promise.all([servers?.stop(), clickhouse?.drop()]);
  });

  it('counts every acknowledged event once after a fail-over under load', async () => {
    await load.goOn(REQUESTS);
    servers.crashPrimary();
    await waitFor(() => load.counts.failures > 0, { ...SETTLE, what: 'a refused request' });
    await servers.promote();
    await load.goOn(REQUESTS);
    const { acknowledged, problems, retries } = await load.finish();
    expect(problems).toEqual([]);
    expect(Object.keys(retries)).toEqual(['503 store_unavailable']);
    const isProjected = async () => {
      const path = `/v1/projects/${project.projectId}/usage/ingest-status`;
      const { body } = await call(service, 'GET', path, { key: project.key });
      return body.pending === 0 && body.lag_seconds === 0;
    };
    await waitFor(isProjected, SETTLE);
    await expectExactUsage({ servers, clickhouse }, project, acknowledged[0] ?? []);
    const verified = await service.runCommand(['verify']);
    expect([verified.exitCode, verified.output]).toEqual([0, expect.stringContaining('Everything is equal')]);
  }, 480_000);
});
