import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const PROJECTS = 4;
const BATCH_EVENTS = 200;
const OCCURRED_AT = Math.floor(Date.now() / 1000) - 3_600;
/** A lost process is replaced within 15 s; the rest of the time is for a busy machine. */
const LONG = { timeoutMs: 180_000 };

let postgres: TestPostgres;
let clickhouse: TestClickHouse;
let env: Record<string, string>;
const running: RunningService[] = [];
const frozen: RunningService[] = [];
const projects: SampleProject[] = [];
const sent: number[] = [];
let api: RunningService;

beforeAll(async () => {
  postgres = await createTestPostgres();
  clickhouse = await createTestClickHouse();
  env = {
    TOLLGATE_DATABASE_URL: postgres.connectionString,
    TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
    TOLLGATE_SHARDS: String(PROJECTS),
  };
  api = await start('api');
  while (projects.length < PROJECTS) projects.push(await createSampleProject(api));
});

afterAll(async () => {
  for (const service of [...frozen]) thaw(service);
  for (const service of running) await service.stop();
  await clickhouse.drop();
  await postgres.drop();
});

async function start(roles: string): Promise<RunningService> {
  const service = await startService({ args: ['serve', '--roles', roles], env, startsEmpty: true });
  running.push(service);
  return service;
}

function thaw(service: RunningService): void {
  process.kill(service.pid, 'SIGCONT');
  frozen.splice(frozen.indexOf(service), 1);
}

const rows = <Row = object>(sql: string) => postgres.beside(sql) as Promise<Row[]>;

/** Sends one batch to each project. */
async function send(): Promise<void> {
  for (const [place, { projectId, key, ruleSetId }] of projects.entries()) {
    const from = sent[place] ?? 0;
    const events = Array.from({ length: BATCH_EVENTS }, (_, index) => ({
      extractor_rule_set_id: ruleSetId,
      idempotency_key: `${from + index}`,
      occurred_at: OCCURRED_AT,
      raw_json: { customer: 'c', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
    }));
    const path = `/v1/projects/${projectId}/events/batch-ingest`;
    const answer = await call(api, 'POST', path, { key, body: { source: 'test', events } });
    expect(answer.status, answer.text).toBe(202);
    sent[place] = from + BATCH_EVENTS;
  }
}

async function waitUntilDone(what: string): Promise<void> {
  for (const [place, { projectId, key }] of projects.entries()) {
    const path = `/v1/projects/${projectId}/usage/ingest-status`;
    const isDone = async () => {
      const { body } = await call(api, 'GET', path, { key });
      return body.processed === sent[place] && body.lag_seconds === 0;
    };
    await waitFor(isDone, { ...LONG, what });
  }
}

/** Waits until this many processes have shards of a role. */
const waitForOwners = (kind: string, count: number) =>
  waitFor(
    async () =>
      (await rows(`select distinct owner from process_leases where kind = '${kind}' and owner is not null`))
        .length === count,
    { ...LONG, what: `${count} owners of shards` },
  );

/** Stops a process with SIGSTOP in the middle of its work, as the query about its connections shows. */
async function freeze(service: RunningService, middle: (pids: string) => string): Promise<string> {
  const [member] = await rows<{ owner: string }>(
    `select owner from lease_members where split_part(process, ' ', 2) = '${service.pid}'`,
  );
  const pids = `select pid from pg_stat_activity where application_name like '%${member?.owner}'`;
  const isInTheMiddle = async () => (await rows(middle(pids))).length > 0;
  await waitFor(
    async () => {
      await send();
      if (!(await isInTheMiddle())) return false;
      process.kill(service.pid, 'SIGSTOP');
      frozen.push(service);
      // The server may have completed the work that it was still doing.
      if (await staysTrue(isInTheMiddle)) return true;
      thaw(service);
      return false;
    },
    { ...LONG, what: 'the middle of a batch' },
  );
  return member?.owner ?? '';
}

async function staysTrue(condition: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 5; look++) if (!(await condition())) return false;
  return true;
}

const inBatch = (pids: string) =>
  `select from pg_stat_activity where pid in (${pids}) and state = 'idle in transaction'`;
/** The first advisory lock of a projector is a lock of its session. */
const inGroup = (pids: string) =>
  `select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and pid in (${pids})`;

it.each([
  ['worker', inBatch],
  ['projector', inGroup],
] as const)(
  'replaces a frozen %s, and counts every event once after it resumes',
  async (role, middle) => {
    const other = role === 'worker' ? 'projector' : 'worker';
    if (running.length === 1) await start(other);
    const [one] = [await start(role), await start(role)];
    const owners = role === 'worker' ? 2 : 3;
    await waitForOwners(role, owners);
    await send();
    await waitUntilDone('rated events');
    const owner = await freeze(one, middle);
    await send();
    await waitUntilDone(`the work of the frozen ${role}`);
    expect(await rows(`select from process_leases where owner = '${owner}'`)).toEqual([]);
    thaw(one);
    await send();
    await waitForOwners(role, owners);
    await waitUntilDone('events after the frozen process resumed');
    expect(await rows('select from usage_batches')).toEqual([]);
    const verified = await api.runCommand(['verify']);
    expect(verified.exitCode, verified.output).toBe(0);
  },
  240_000,
);
