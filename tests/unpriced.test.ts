import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

const EXTRACTOR = {
  subject: { default_type: 'customer', id_path: 'customer' },
  dimensions: [{ name: 'model', path: 'model', type: 'string' }],
  charge_item_extractors: [{ metric: 'llm.tokens', path: 'n', type: 'number', unit: 'token' }],
};
const ruleFor = (model: string) => ({
  name: model,
  metric: 'llm.tokens',
  match_expr: `dimensions.model == "${model}"`,
  unit_price_expr: 'dec("0.5")',
});
/** Prices another model, and reads the model of the events by an alias. */
const PRICING = {
  rules: [ruleFor('large')],
  aliases: [{ dimension: 'model', pattern: 'small-20*', value: 'small' }],
};

let service: RunningService;
let sample: SampleProject;
let project: string;
const occurredAt = Math.floor(Date.now() / 1000);

beforeAll(async () => {
  service = await sharedService();
  sample = await createSampleProject(service);
  project = `/v1/projects/${sample.projectId}`;
});
afterAll(() => service?.stop());

async function post(path: string, body?: object) {
  const {
    status,
    body: answer,
    text,
  } = await call(service, 'POST', `${project}${path}`, {
    key: sample.key,
    ...(body === undefined ? {} : { body }),
  });
  expect(status, text).toBeLessThan(300);
  return answer;
}

async function get(path: string) {
  const { status, body, text } = await call(service, 'GET', `${project}${path}`, { key: sample.key });
  expect(status, text).toBe(200);
  return body;
}

/** A published extractor with published prices; none of them fits the events. */
async function makeRules(on_unpriced: 'accept' | 'fail') {
  const { id: extractorId } = await created(service, `${project}/extractor-rule-sets`, {
    key: sample.key,
    body: { ...EXTRACTOR, on_unpriced, effective_from: occurredAt - 60 },
  });
  await post(`/extractor-rule-sets/${extractorId}/publish`);
  const { id: pricingId } = await created(service, `${project}/pricing-rule-sets`, {
    key: sample.key,
    body: { ...PRICING, extractor_rule_set_id: extractorId, effective_from: occurredAt - 60 },
  });
  await post(`/pricing-rule-sets/${pricingId}/publish`);
  return { extractorId: String(extractorId), pricingId: String(pricingId) };
}

const EVENT = {
  occurred_at: occurredAt,
  raw_json: { customer: 'c1', model: 'small-2026-01-01', n: 4 },
};

/** The address of an event that was sent and rated. */
async function sentEvent(extractorId: string): Promise<string> {
  const { raw_event_id } = await post(`/extractor-rule-sets/${extractorId}/events/ingest`, {
    source: 'test',
    ...EVENT,
  });
  const address = `/usage/events/${raw_event_id}`;
  await get(`${address}?wait_seconds=10`);
  return address;
}

/** Adds the missing price, for the time of the events too. */
async function addPrice({ extractorId, pricingId }: { extractorId: string; pricingId: string }) {
  const { key } = sample;
  const body = {
    ...PRICING,
    rules: [...PRICING.rules, ruleFor('small')],
    extractor_rule_set_id: extractorId,
    effective_from: occurredAt - 60,
  };
  const changed = await call(service, 'PUT', `${project}/pricing-rule-sets/${pricingId}`, { key, body });
  expect(changed.status, changed.text).toBe(200);
  await post(`/pricing-rule-sets/${pricingId}/publish`);
}

const tried = (extractorId: string) =>
  post('/rules/test', { extractor_rule_set_id: extractorId, event: EVENT });

const APPLIED = [{ dimension: 'model', from: 'small-2026-01-01', pattern: 'small-20*', value: 'small' }];

describe('an event that has no price', () => {
  it('fails where the extractor says so, is explained as in a rules test, and rated once there is a price', async () => {
    const rules = await makeRules('fail');
    const address = await sentEvent(rules.extractorId);
    const failed = await get(address);
    expect(failed).toMatchObject({
      status: 'failed',
      failure: { code: 'unpriced' },
      charge_items: [],
      unpriced: [
        {
          metric: 'llm.tokens',
          quantity: '4',
          nearest_rules: [
            { rule_set_id: rules.pricingId, rule_name: 'large', reason: 'match_false', aliases: APPLIED },
          ],
        },
      ],
    });
    expect((await tried(rules.extractorId)).unpriced).toEqual(failed.unpriced);
    expect((await get('/usage/ingest-status')).unpriced_count).toBe(0);

    await addPrice(rules);
    await waitFor(async () => (await get(address)).unpriced.length === 0, { what: 'the price' });
    expect((await get(address)).failure.code).toBe('unpriced');
    await post(`${address}/reprocess`);
    await waitFor(async () => (await get(address)).status === 'processed', { what: 'the rating' });
    expect(await get(address)).toMatchObject({
      charge_items: [{ amount: '2', pricing_source: 'pricing_rule_set', rule_name: 'small' }],
      explanation: { charge_items: [{ priced_by: { aliases: APPLIED } }] },
      unpriced: [],
    });
  });

  it('is accepted otherwise, explained too, and keeps what it was charged when a price comes', async () => {
    const rules = await makeRules('accept');
    const address = await sentEvent(rules.extractorId);
    const accepted = await get(address);
    expect(accepted).toMatchObject({
      status: 'processed',
      charge_items: [{ pricing_source: 'unpriced', amount: '0' }],
      unpriced: [{ nearest_rules: [{ reason: 'match_false', aliases: APPLIED }] }],
    });
    expect((await tried(rules.extractorId)).unpriced).toEqual(accepted.unpriced);
    expect((await get('/usage/ingest-status')).unpriced_count).toBe(1);

    await addPrice(rules);
    const reasonOf = async () => (await get(address)).unpriced[0].nearest_rules[0];
    await waitFor(async () => (await reasonOf()).rule_name === 'small', { what: 'the price' });
    expect(await reasonOf()).toMatchObject({ reason: 'matches_now', aliases: APPLIED });
    expect((await get(address)).charge_items).toMatchObject([{ pricing_source: 'unpriced', amount: '0' }]);
  });
});
