import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

/** Under normal load a second is enough; this is for machines that have much else to do. */
const READ_YOUR_WRITES = { timeoutMs: 120_000, what: 'the usage in the snapshot' };
const OCCURRED_AT = Math.floor(Date.now() / 1_000);

let service: RunningService;
let sample: SampleProject;
let project: string;

beforeAll(async () => {
  service = await startService();
  sample = await createSampleProject(service);
  project = `/v1/projects/${sample.projectId}`;
  const options = (body: object) => ({ key: sample.key, body });
  const route = await created(
    service,
    `${project}/subject-routes`,
    options({ subject_type: 'customer', subject_id: '*' }),
  );
  const limit = { period: 'lifetime', action: 'block' };
  for (const body of [
    {
      ...limit,
      limit_key: 'spend',
      measure: 'amount',
      currency: 'USD',
      selector_type: 'all',
      limit_amount: '3.5',
    },
    {
      ...limit,
      limit_key: 'large',
      measure: 'quantity',
      selector_type: 'metric',
      selector_value: 'llm.output_tokens',
      dimension_key: 'model',
      dimension_value: 'large',
      limit_amount: '1000',
    },
  ]) {
    await created(service, `${project}/subject-routes/${route.id}/limits`, options(body));
  }
});
afterAll(() => service?.stop());

/** 1 USD of input and 10 output tokens, which cost 0.0001 USD. */
async function ingest(customer: string, model: string, fields: object = {}): Promise<void> {
  const answer = await call(
    service,
    'POST',
    `${project}/extractor-rule-sets/${sample.ruleSetId}/events/ingest`,
    {
      key: sample.key,
      body: {
        source: 'test',
        occurred_at: OCCURRED_AT,
        raw_json: { customer, model, usage: { input_tokens: 400_000, output_tokens: 10 } },
        ...fields,
      },
    },
  );
  expect(answer.status).toBe(202);
}

/** Used and reserved of both limits. */
async function limitStatus(customer: string): Promise<string[]> {
  const url = `${project}/subject/realtime/limits?subject_type=customer&subject_id=${customer}`;
  const { limits } = (await call(service, 'GET', url, { key: sample.key })).body;
  return limits.flatMap((limit: Record<string, string>) => [limit.used_amount, limit.reserved_amount]);
}

const shows = (customer: string, expected: readonly string[]) =>
  waitFor(async () => (await limitStatus(customer)).join() === expected.join(), READ_YOUR_WRITES);

async function isAllowed(customer: string, asked: object = {}): Promise<boolean> {
  const body = { subject_type: 'customer', subject_id: customer, ...asked };
  const answer = await call(service, 'POST', `${project}/subject/realtime/check`, { key: sample.key, body });
  return answer.body.allowed;
}

it('what was accepted shows in the snapshot, each limit with what it selects, and the check heeds it', async () => {
  await ingest('a', 'large');
  await ingest('a', 'small');
  await ingest('b', 'small');
  await shows('a', ['2.0002', '0', '10', '0']);
  await shows('b', ['1.0001', '0', '0', '0']);
  expect(await isAllowed('a', { amount: '1.4998', currency: 'USD' })).toBe(true);
  expect(await isAllowed('a', { amount: '1.4999', currency: 'USD' })).toBe(false);
  await ingest('a', 'small');
  await ingest('a', 'small');
  await shows('a', ['4.0004', '0', '10', '0']);
  expect([await isAllowed('a'), await isAllowed('b')]).toEqual([false, true]);
});

it('what comes with a lease moves from reserved to used', async () => {
  const lease = { subject_type: 'customer', subject_id: 'c', amount: '3', currency: 'USD', ttl_seconds: 600 };
  const url = `${project}/budget-leases`;
  const { id } = await created(service, url, { key: sample.key, body: lease });
  expect(await limitStatus('c')).toEqual(['0', '3', '0', '0']);
  await ingest('c', 'small', { 'x-usage-control': { budget_lease_id: id } });
  await shows('c', ['1.0001', '1.9999', '0', '0']);
  expect((await call(service, 'GET', `${url}/${id}`, { key: sample.key })).body).toMatchObject({
    used_amount: '1.0001',
    remaining_amount: '1.9999',
  });
  expect((await call(service, 'POST', `${url}/${id}/close`, { key: sample.key })).status).toBe(200);
  await ingest('c', 'small', { 'x-usage-control': { budget_lease_id: id } });
  await shows('c', ['2.0002', '0', '0', '0']);
});

it('a lease that nobody closes gives back by itself', async () => {
  const lease = { subject_type: 'customer', subject_id: 'd', amount: '3.5', currency: 'USD', ttl_seconds: 1 };
  const options = { key: sample.key, body: lease };
  await created(service, `${project}/budget-leases`, options);
  const refused = await call(service, 'POST', `${project}/budget-leases`, options);
  expect([refused.status, refused.body.code]).toEqual([409, 'limit_exceeded']);
  await shows('d', ['0', '0', '0', '0']);
  expect((await call(service, 'POST', `${project}/budget-leases`, options)).status).toBe(201);
  expect((await call(service, 'GET', '/metrics')).text).toMatch(
    /^tollgate_budget_leases_expired_total [1-9]/m,
  );
});
