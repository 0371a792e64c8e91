import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

let postgres: TestPostgres;
let clickhouse: TestClickHouse;
let env: Record<string, string>;
const running: RunningService[] = [];

async function start(roles: string, workers = 1): Promise<RunningService> {
  const args = ['serve', '--roles', roles, '--workers', String(workers)];
  const service = await startService({ args, env, startsEmpty: true });
  running.push(service);
  return service;
}

let one: RunningService;
let other: RunningService;
let worker: RunningService;
let sample: SampleProject;
let project: string;

beforeAll(async () => {
  postgres = await createTestPostgres();
  clickhouse = await createTestClickHouse();
  env = { TOLLGATE_DATABASE_URL: postgres.connectionString, TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
  one = await start('api');
  // It accepts events in two processes.
  other = await start('api', 2);
  worker = await start('worker');
  await start('projector');
  sample = await createSampleProject(one);
  project = `/v1/projects/${sample.projectId}`;
});

afterAll(async () => {
  for (const service of running) await service.stop();
  await clickhouse.drop();
  await postgres.drop();
});

/** Upper bound of the time until a worker has its shards, on a busy machine. */
const TAKEOVER_MS_MAX = 120_000;

const OCCURRED_AT = Math.floor(Date.now() / 1000) - 600;

async function send(service: RunningService, count: number, prefix: string): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    extractor_rule_set_id: sample.ruleSetId,
    idempotency_key: `${prefix}-${index}`,
    occurred_at: OCCURRED_AT,
    raw_json: { customer: 'c1', model: 'm', usage: { input_tokens: 1_000, output_tokens: 100 } },
  }));
  const body = { source: 'test', events };
  const answer = await call(service, 'POST', `${project}/events/batch-ingest`, { key: sample.key, body });
  expect(answer.status).toBe(202);
}

async function statusOf(service: RunningService) {
  return (await call(service, 'GET', `${project}/usage/ingest-status`, { key: sample.key })).body;
}

async function totalsOf(service: RunningService) {
  const body = {
    metrics: ['llm.input_tokens'],
    time_range: { from: OCCURRED_AT, to: OCCURRED_AT + 1 },
    bucket_size: 'none',
  };
  const answer = await call(service, 'POST', `${project}/analysis/query`, { key: sample.key, body });
  return answer.body.rows;
}

/** Sets the default mode of the database for transactions; ends connections that have another default. */
async function setReadOnly(mode: 'on' | 'off'): Promise<void> {
  const [{ name }] = (await postgres.beside('select current_database() as name')) as [{ name: string }];
  await postgres.beside(
    `begin read write; alter database ${name} set default_transaction_read_only = ${mode}; commit`,
  );
  await postgres.beside(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
}

describe('roles in processes of their own, on one PostgreSQL and one ClickHouse', () => {
  it('rate once what any node accepted, and show it on every node', async () => {
    await send(one, 200, 'a');
    await send(other, 200, 'a');
    await send(other, 100, 'b');
    await waitFor(
      async () => (await statusOf(one)).processed === 300 && (await statusOf(other)).lag_seconds === 0,
    );
    expect(await statusOf(other)).toMatchObject({
      accepted: 500,
      processed: 300,
      duplicates: 200,
      failed: 0,
    });
    const expected = [{ item_count: 300, quantity: '300000', amount: '0.75' }];
    expect(await totalsOf(one)).toMatchObject(expected);
    expect(await totalsOf(other)).toMatchObject(expected);
  });

  it('keep what is accepted while no worker runs', async () => {
    expect(await worker.terminate()).toBe(0);
    await send(one, 50, 'c');
    expect(await statusOf(other)).toMatchObject({ pending: 50, processed: 300 });
    await worker.start();
    await waitFor(async () => (await statusOf(one)).lag_seconds === 0, { timeoutMs: TAKEOVER_MS_MAX });
    expect(await totalsOf(other)).toMatchObject([{ item_count: 350 }]);
  });

  it('serve their health, and nothing else, without the api role', async () => {
    expect((await call(worker, 'GET', '/readyz')).status).toBe(200);
    expect((await call(worker, 'GET', '/metrics')).text).toContain('tollgate_pipeline_events_total');
    expect((await call(worker, 'GET', `${project}/usage/ingest-status`, { key: sample.key })).status).toBe(
      404,
    );
  });

  it('are not ready where events come in while nothing can be written, and accept them when it can', async () => {
    const readiness = async (service: RunningService) => (await call(service, 'GET', '/readyz')).body;
    const stores = { postgres: 'ok', clickhouse: 'ok', history: 'ok' };
    const ready = { ready: true, checks: { ...stores, queue: 'ok' } };
    await waitFor(async () => (await readiness(one)).ready === true);
    expect(await readiness(one)).toEqual(ready);
    await setReadOnly('on');
    await waitFor(async () => (await readiness(one)).problems?.queue === 'read_only');
    expect(await call(one, 'GET', '/readyz')).toMatchObject({
      status: 503,
      body: { ready: false, checks: { postgres: 'ok', queue: 'failed' } },
    });
    expect(await readiness(worker)).toEqual({ ready: true, checks: stores });
    await setReadOnly('off');
    await waitFor(async () => (await readiness(one)).ready === true);
    expect(await readiness(one)).toEqual(ready);
    await send(one, 1, 'd');
  });

  it('notice tables that are gone', async () => {
    const problems = async () => (await call(one, 'GET', '/readyz')).body.problems;
    await postgres.beside('alter table ledger_entries rename to ledger_entries_away');
    await waitFor(async () => (await problems())?.postgres === 'missing_tables');
    expect((await call(one, 'GET', '/readyz')).status).toBe(503);
    await postgres.beside('alter table ledger_entries_away rename to ledger_entries');
    await clickhouse.clickhouse.command('RENAME TABLE usage_rollup TO usage_rollup_away');
    await waitFor(async () => (await problems())?.clickhouse === 'missing_tables');
    expect((await call(one, 'GET', '/readyz')).status).toBe(200);
    await clickhouse.clickhouse.command('RENAME TABLE usage_rollup_away TO usage_rollup');
    await waitFor(async () => (await problems()) === undefined);
  });

  it('publish on one node for the very next event on another', async () => {
    const url = `${project}/extractor-rule-sets`;
    const draft = await created(one, url, { key: sample.key, body: {} });
    const body = { source: 'test', occurred_at: OCCURRED_AT, raw_json: {} };
    const ingest = () => call(other, 'POST', `${url}/${draft.id}/events/ingest`, { key: sample.key, body });
    expect((await ingest()).status).toBe(409);
    await call(one, 'POST', `${url}/${draft.id}/publish`, { key: sample.key });
    expect((await ingest()).status).toBe(202);
  });

  it('end a revoked key on every node', async () => {
    const keys = `/admin/v1/tenants/${sample.tenantId}/api-keys`;
    const body = { name: 'short', permissions: ['usage:read'] };
    const { id, key } = await created(one, keys, { key: one.serviceKey, body });
    const use = async (service: RunningService) =>
      (await call(service, 'GET', '/v1/me', { key: String(key) })).status;
    expect([await use(one), await use(other)]).toEqual([200, 200]);
    const revoked = await call(one, 'DELETE', `${keys}/${id}`, { key: one.serviceKey });
    expect([revoked.status, await use(one)]).toEqual([204, 401]);
    await waitFor(async () => (await use(other)) === 401);
  });

  it('agree, by a recount from a fifth process', async () => {
    const { exitCode, output } = await one.runCommand(['verify']);
    expect([exitCode, output]).toEqual([0, expect.stringContaining('Everything is equal')]);
  });

  it('write no file, and need no folder', async () => {
    expect(running.map(({ dataDir }) => readdirSync(dataDir))).toEqual(running.map(() => []));
    const absent = { TOLLGATE_DATA_DIR: '/proc/no-such-folder' };
    const { exitCode, output } = await one.runCommand(['verify'], absent);
    expect([exitCode, output]).toEqual([0, expect.stringContaining('Everything is equal')]);
  });

  it('need a service key that all of them have', async () => {
    const { exitCode, output } = await one.runCommand(['serve', '--roles', 'api'], {
      PORT: '0',
      TOLLGATE_SERVICE_KEY: '',
    });
    expect([exitCode, output]).toEqual([
      1,
      'tollgate: Set TOLLGATE_SERVICE_KEY or TOLLGATE_SERVICE_KEY_FILE: if both stores are servers of your own, all processes must have the same service key.\n',
    ]);
  });

  it('are refused over a store that only one process can open', async () => {
    const { TOLLGATE_CLICKHOUSE_URL: _, ...withoutClickHouse } = env;
    const start = startService({
      args: ['serve', '--roles', 'api'],
      env: withoutClickHouse,
      startsEmpty: true,
    });
    await expect(start).rejects.toThrow(/Roles can be split only over stores that every process reaches/);
  });
});
