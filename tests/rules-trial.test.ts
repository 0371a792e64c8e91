import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

/** Rules in which every way to a price occurs. */
const EXTRACTOR = {
  subject: { default_type: 'customer', id_path: '$.customer' },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'batch', path: 'batch', type: 'boolean' },
    { name: 'level', path: 'level', type: 'number' },
  ],
  charge_item_extractors: [
    { metric: 'llm.input_tokens', path: 'in', less_paths: ['cached'], type: 'number', unit: 'token' },
    { metric: 'llm.cached_input_tokens', path: 'cached', type: 'number', unit: 'token' },
    { metric: 'llm.calls', path: 'calls', type: 'number', currency: 'EUR', unit_price_expr: 'dec("0.1")' },
  ],
};
const PRICING = {
  currency: 'USD',
  rules: [
    {
      name: 'team',
      metric: 'llm.input_tokens',
      match_expr: 'subject.type == "team"',
      unit_price_expr: 'dec("0.0000001")',
    },
    {
      name: 'tiers',
      priority: 1,
      metric: 'llm.input_tokens',
      match_expr: 'dimensions.model == "large"',
      amount_expr: 'tier_graduated(item.quantity, [[1000, "0.000003"], [null, "0.000001"]])',
    },
    {
      name: 'level',
      priority: 2,
      metric: 'llm.input_tokens',
      unit_price_expr: 'dec_div(dec(dimensions.level), dec(7), 18)',
    },
  ],
};

/** Events as they are sent; the last ones fail. */
const EVENTS: readonly (readonly [name: string, fields: string])[] = [
  ['tiers and attached pricing', '"raw_json": {"model": "large", "in": 5000, "cached": 1200, "calls": 3}'],
  ['a sent subject', '"subject_type": "team", "subject_id": "t1", "raw_json": {"model": "m", "in": 7}'],
  ['digits that no double holds', '"raw_json": {"model": "m", "level": 0.1, "in": 12345678901234567.891}'],
  ['a subject that is read', '"raw_json": {"customer": "c1", "batch": true, "model": "large", "in": 1}'],
  [
    'hints, discounts and items of the client',
    `"raw_json": {"model": "large", "in": 100, "calls": 2}, "x-billing": {
      "items": [{"metric": "llm.calls", "quantity": 0.30000000000000000001, "unit": "call"}],
      "pricing_hints": {"llm.input_tokens": {"unit_price": 3, "pricing_unit": 1000000, "currency": "GBP"}},
      "discount_hints": {"llm.calls": {"percent": 12.5}, "llm.input_tokens": {"amount": "0.0001"}}}`,
  ],
  ['nothing to charge', '"raw_json": {"model": "m"}'],
  ['a missing dimension', '"raw_json": {"in": 1}'],
  ['a price that cannot be computed', '"raw_json": {"model": "m", "in": 1}'],
  ['more cached than there is', '"raw_json": {"model": "large", "in": 1, "cached": 2}'],
];

let service: RunningService;
let sample: SampleProject;
let project: string;
let extractorId: string;
let pricingId: string;
const occurredAt = Math.floor(Date.now() / 1000);

async function publishRules(kind: 'extractor' | 'pricing', body: object): Promise<string> {
  const { key } = sample;
  const { id } = await created(service, `${project}/${kind}-rule-sets`, { key, body });
  const published = await call(service, 'POST', `${project}/${kind}-rule-sets/${id}/publish`, { key });
  expect(published.status, published.text).toBe(200);
  return String(id);
}

beforeAll(async () => {
  service = await sharedService();
  sample = await createSampleProject(service);
  project = `/v1/projects/${sample.projectId}`;
  extractorId = await publishRules('extractor', { ...EXTRACTOR, effective_from: occurredAt - 60 });
  pricingId = await publishRules('pricing', {
    extractor_rule_set_id: extractorId,
    effective_from: occurredAt - 60,
    ...PRICING,
  });
});
afterAll(() => service?.stop());

/** The event as production rated it. */
async function produced(fields: string) {
  const { key } = sample;
  const body = `{"source": "test", "occurred_at": ${occurredAt}, ${fields}}`;
  const sent = await call(service, 'POST', `${project}/extractor-rule-sets/${extractorId}/events/ingest`, {
    key,
    body,
  });
  expect(sent.status, sent.text).toBe(202);
  const event = `${project}/usage/events/${sent.body.raw_event_id}`;
  await waitFor(async () => (await call(service, 'GET', event, { key })).status === 200);
  return (await call(service, 'GET', event, { key })).body;
}

/** The item as it was rated: only production posts it. */
const withoutPosting = ({ ledger_transaction_id: _posted, ...item }: Record<string, unknown>) => item;

describe('the same event in production, in a test of the rules and in a backtest', () => {
  it.each(EVENTS)('%s: production and test agree', async (_name, fields) => {
    const event = await produced(fields);
    const {
      subject_type: type,
      subject_id: id,
      dimensions,
      charge_items,
      failure,
      explanation,
      notes,
    } = event;
    const body = `{"extractor_rule_set_id": "${extractorId}", "pricing_rule_set_id": "${pricingId}",
      "event": {"occurred_at": ${occurredAt}, ${fields}}}`;
    const tested = await call(service, 'POST', `${project}/rules/test`, { key: sample.key, body });
    expect(tested.status, tested.text).toBe(200);
    expect(tested.body).toEqual({
      unpriced: expect.any(Array),
      warnings: expect.any(Array),
      notes,
      subject: type === null ? null : { type, id },
      dimensions,
      charge_items: charge_items.map(withoutPosting),
      errors: failure === null ? [] : [failure],
      explanation: explanation.charge_items,
    });
  });

  it('a backtest by the same rules finds no difference, by others exactly what they change', async () => {
    const backtest = async (rules: object) => {
      const body = {
        extractor_rule_set_id: extractorId,
        time_range: { from: occurredAt, to: occurredAt + 1 },
        ...rules,
      };
      const answer = await call(service, 'POST', `${project}/rules/backtest`, { key: sample.key, body });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.result;
    };
    const same = await backtest({ pricing_rule_set_id: pricingId });
    expect(same).toMatchObject({
      event_count: EVENTS.length,
      changed_count: 0,
      newly_failed: [],
      newly_succeeded: [],
      examples: [],
    });
    expect(same.totals.length).toBeGreaterThan(3);
    for (const { before, after } of same.totals) expect(after).toEqual(before);

    const [team, ...others] = PRICING.rules;
    const dearer = await backtest({
      pricing: { ...PRICING, rules: [{ ...team, unit_price_expr: 'dec("1")' }, ...others] },
    });
    expect(dearer).toMatchObject({
      changed_count: 1,
      examples: [{ currency: 'USD', amount_difference: '6.9999993' }],
    });
  });
});
