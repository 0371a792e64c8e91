import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

let service: RunningService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service?.stop());

/** Rules that charge tokens by the total of a customer, with this price of the first ten. */
function tieredRules(first: string) {
  return {
    subject: { default_type: 'customer', id_path: 'customer', required: true },
    charge_item_extractors: [
      {
        ...{ name: 'tokens', metric: 'tokens', path: 'n', type: 'number', unit: 'token', currency: 'USD' },
        cumulative: { counter: 'tokens', period: 'lifetime', per: 'subject' },
        total_expr: `tier_graduated(total.quantity, [[10, "${first}"], [null, "1"]])`,
      },
    ],
  };
}

it('counts whole periods on the thread that runs backtests', async () => {
  const { projectId, key } = await createSampleProject(service);
  const url = `/v1/projects/${projectId}`;
  const body = { ...tieredRules('2'), name: 'Tiered', effective_from: 0 };
  const { id } = await created(service, `${url}/extractor-rule-sets`, { key, body });
  expect((await call(service, 'POST', `${url}/extractor-rule-sets/${id}/publish`, { key })).status).toBe(200);
  const nowS = Math.floor(Date.now() / 1_000);
  const usage = [
    { customer: 'a', n: 8, agoS: 300 },
    { customer: 'b', n: 3, agoS: 200 },
    { customer: 'a', n: 4, agoS: 100 },
  ];
  const events = usage.map(({ agoS, ...raw_json }, index) => ({
    ...{ extractor_rule_set_id: id, idempotency_key: `k${index}`, occurred_at: nowS - agoS, raw_json },
  }));
  const sent = { source: 'test', events };
  expect((await call(service, 'POST', `${url}/events/batch-ingest`, { key, body: sent })).status).toBe(202);
  await waitFor(async () => {
    const status = await call(service, 'GET', `${url}/usage/ingest-status`, { key });
    return status.body.processed === usage.length && status.body.lag_seconds === 0;
  });
  const backtest = async (extractor: object, agoS: number) => {
    const time_range = { from: nowS - agoS, to: nowS };
    const asked = { extractor_rule_set_id: id, extractor, time_range };
    const started = await call(service, 'POST', `${url}/rules/backtest`, { key, body: asked });
    expect(started.status, started.text).toBeLessThan(300);
    let shown = started.body;
    await waitFor(async () => {
      shown = (await call(service, 'GET', `${url}/rules/backtests/${started.body.id}`, { key })).body;
      return shown.status !== 'running';
    });
    return shown;
  };
  expect(await backtest(tieredRules('2'), 400)).toMatchObject({
    status: 'succeeded',
    result: { event_count: 3, changed_count: 0 },
  });
  // The last event alone is in the range; the first one moves its total from 8 to 12 all the same.
  expect(await backtest(tieredRules('5'), 150)).toMatchObject({
    status: 'succeeded',
    result: { event_count: 1, totals: [{ before: { amount: '6' }, after: { amount: '12' } }] },
  });
});
