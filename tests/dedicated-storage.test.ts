import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const KILLS = 3;
const BATCHES_PER_ROUND = 12;
const BATCH_EVENTS = 50;
const SETTLE_TIMEOUT_MS = 180_000;
/** Its release projects get tables of their own. */
const PLAN = 'scale';

let service: RunningService;
let shared: SampleProject;
let own: SampleProject;
const occurredAt = Math.floor(Date.now() / 1000) - 3_600;
let sequence = 0;

beforeAll(async () => {
  service = await startService({
    env: { TOLLGATE_PAYMENT_PROVIDER: 'sandbox', TOLLGATE_PAYMENT_WEBHOOK_SECRET: 'whsec_of_this_test' },
  });
  shared = await createSampleProject(service);
  own = await createSampleProject(service, { kind: 'release', onTenant: buyPlan });
});
afterAll(() => service?.stop());

async function buyPlan(tenantId: string): Promise<void> {
  const admin = `/admin/v1/tenants/${tenantId}`;
  const { session_url: url } = await created(service, `${admin}/payments/provider/checkout-sessions`, {
    key: service.serviceKey,
    body: { plan_id: PLAN },
    idempotencyKey: 'the only purchase',
  });
  await fetch(`${url}/pay`, { method: 'POST', redirect: 'manual' });
  const planId = async () =>
    (await call(service, 'GET', `${admin}/entitlement`, { key: service.serviceKey })).body.plan_id;
  await waitFor(async () => (await planId()) === PLAN, { what: 'the plan', timeoutMs: SETTLE_TIMEOUT_MS });
}

/** Sends a batch until it is acknowledged; a broken connection is what a kill looks like from outside. */
async function send({ projectId, key, ruleSetId }: SampleProject, first: number): Promise<void> {
  const events = Array.from({ length: BATCH_EVENTS }, (_, index) => ({
    extractor_rule_set_id: ruleSetId,
    idempotency_key: `event-${first + index}`,
    occurred_at: occurredAt,
    raw_json: { customer: 'c', model: 'm', usage: { input_tokens: first + index, output_tokens: 1 } },
  }));
  const path = `/v1/projects/${projectId}/events/batch-ingest`;
  const isAcknowledged = async () => {
    try {
      return (await call(service, 'POST', path, { key, body: { source: 'kill', events } })).status === 202;
    } catch {
      return false;
    }
  };
  await waitFor(isAcknowledged, { what: 'an acknowledgement', timeoutMs: SETTLE_TIMEOUT_MS });
}

async function get({ projectId, key }: SampleProject, path: string) {
  const answer = await call(service, 'GET', `/v1/projects/${projectId}/${path}`, { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** The sum of the project's usage by an analysis query. */
async function usageOf({ projectId, key }: SampleProject): Promise<unknown> {
  const body = {
    metrics: ['llm.input_tokens', 'llm.output_tokens'],
    time_range: { from: occurredAt - 60, to: occurredAt + 60 },
    bucket_size: 'none',
    group_by: ['model', 'subject_id'],
  };
  return (await call(service, 'POST', `/v1/projects/${projectId}/analysis/query`, { key, body })).body.rows;
}

it('a project with tables of its own loses nothing and counts nothing twice, killed at any time next to one that shares', async () => {
  const asOwner = { key: own.key };
  const { projects } = (await call(service, 'GET', '/v1/projects', asOwner)).body;
  expect(projects).toMatchObject([{ id: own.projectId, kind: 'release', storage: 'dedicated' }]);
  for (let round = 0; round < KILLS; round++) {
    const sending = Array.from({ length: BATCHES_PER_ROUND }, () => {
      const first = sequence;
      sequence += BATCH_EVENTS;
      return Promise.all([send(shared, first), send(own, first)]);
    });
    await sending[round];
    await service.crash(round % 2 === 0 ? 'service and stores' : 'service');
    await service.start();
    await Promise.all(sending);
  }
  for (const project of [shared, own]) {
    const isSettled = async () => {
      const { pending, lag_seconds } = await get(project, 'usage/ingest-status');
      return pending === 0 && lag_seconds === 0;
    };
    await waitFor(isSettled, { timeoutMs: SETTLE_TIMEOUT_MS, what: 'an empty queue' });
    expect(await get(project, 'usage/ingest-status')).toMatchObject({ processed: sequence, failed: 0 });
  }
  const rows = await usageOf(own);
  expect(rows).toMatchObject([
    { metric: 'llm.input_tokens', item_count: sequence, quantity: String((sequence * (sequence - 1)) / 2) },
    { metric: 'llm.output_tokens', item_count: sequence, quantity: String(sequence) },
  ]);
  expect(await usageOf(shared)).toEqual(rows);
  expect((await get(own, 'usage/events?limit=100')).events).toHaveLength(100);
  expect((await get(own, 'usage/metrics')).metrics).toHaveLength(2);
  const verified = await service.runCommand(['verify']);
  expect(verified.exitCode, verified.output).toBe(0);
}, 300_000);

it('a plan that requires it gives tables to release projects only', async () => {
  const path = `/admin/v1/tenants/${own.tenantId}/projects`;
  const body = { name: 'Trial', kind: 'development' };
  expect(await created(service, path, { key: own.key, body })).toMatchObject({ storage: 'shared' });
});
