import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import * as sdk from '@tollgate/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guideOf } from '../packages/service/src/testing/guide.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { closed, urlOf } from './support/loopback-server.js';
import { moduleFunction } from './support/module-function.js';
import { operationCount, RecordedRequests, resourcesOf } from './support/recorded-requests.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { CUSTOMER, EXTRACTOR, LIMIT, METRIC, pricingOf } from './support/sdk-inputs.js';
import { type RunningService, startService } from './support/service.js';

const OCCURRED_AT = Math.floor(Date.now() / 1_000);

const requests = new RecordedRequests();
let service: RunningService;
let sample: SampleProject;
let project: sdk.ProjectClient;

beforeAll(async () => {
  service = await startService({ env: { TOLLGATE_WEBHOOK_ALLOW_PRIVATE: '1' } });
  sample = await createSampleProject(service);
  const client = new sdk.TollgateClient({ baseUrl: service.url, apiKey: sample.key, fetch: requests.fetch });
  project = client.project(sample.projectId);
});
afterAll(() => service?.stop());

const until = (what: string, condition: () => Promise<boolean>) =>
  waitFor(condition, { timeoutMs: 120_000, what });
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

const event = (key: string, usage: object = { input_tokens: 10, output_tokens: 2 }) => ({
  source: 'sdk',
  idempotency_key: key,
  occurred_at: OCCURRED_AT,
  raw_json: { customer: CUSTOMER.subject_id, model: 'm', usage },
});

describe('every method, against the service', () => {
  it('rule sets, and rules on trial', async () => {
    const { extractorRuleSets, pricingRuleSets, ruleTrials } = project;
    const made = await extractorRuleSets.create(EXTRACTOR);
    const renamed = await extractorRuleSets.update(made.id, { ...EXTRACTOR, name: 'Input tokens' });
    expect(renamed).toMatchObject({ id: made.id, name: 'Input tokens' });
    expect(await extractorRuleSets.publish(made.id)).toMatchObject({ status: 'published' });
    expect(await extractorRuleSets.get(made.id, 1)).toMatchObject({ id: made.id, version: 1 });
    expect(await extractorRuleSets.versions(made.id)).toMatchObject({ total_count: 1 });
    const prices = await pricingRuleSets.create(pricingOf(made.id, '1'));
    await pricingRuleSets.update(prices.id, pricingOf(made.id, '2'));
    await pricingRuleSets.publish(prices.id);
    expect(await pricingRuleSets.get(prices.id)).toMatchObject({ status: 'published' });
    expect(await pricingRuleSets.versions(prices.id)).toMatchObject({ total_count: 1 });
    expect(await pricingRuleSets.list({ extractor_rule_set_id: made.id })).toMatchObject({ total_count: 1 });
    const tested = await ruleTrials.test({
      extractor_rule_set_id: made.id,
      event: { raw_json: { customer: 'c1', tokens: 3 } },
    });
    expect(tested).toMatchObject({ charge_items: [{ metric: METRIC, amount: '6' }] });
    const text = `{"extractor_rule_set_id":"${made.id}","event":{"raw_json":{"customer":"c1","tokens":0.5000}}}`;
    expect(await ruleTrials.testText(text)).toMatchObject({ charge_items: [{ quantity: '0.5' }] });
    const time_range = { from: OCCURRED_AT - 60, to: OCCURRED_AT };
    const backtest = await ruleTrials.startBacktest({ extractor_rule_set_id: made.id, time_range });
    expect(await ruleTrials.backtest(backtest.id)).toMatchObject({ id: backtest.id });
    expect(await ruleTrials.backtests()).toMatchObject({ total_count: 1 });
    expect(await ruleTrials.cancelBacktest(backtest.id)).toMatchObject({ id: backtest.id });
    await pricingRuleSets.archive(prices.id);
    await extractorRuleSets.archive(made.id);
    expect((await extractorRuleSets.list({ status: 'archived' })).total_count).toBe(1);
  });

  it('ingest, usage and analysis', async () => {
    const { usage, analysis } = project;
    const { raw_event_id: id } = await project.ingest(sample.ruleSetId, event('one'));
    const { count } = await project.batchIngest({
      events: [{ ...event('two'), extractor_rule_set_id: sample.ruleSetId }],
    });
    expect(count).toBe(1);
    await project.ingest(sample.ruleSetId, event('bad', { input_tokens: 'many' }));
    await until('three events', async () => (await usage.events()).events.length === 3);
    const seen: string[] = [];
    for await (const each of usage.allEvents({ status: 'processed', limit: 1 })) seen.push(each.raw_event_id);
    expect(seen).toContain(id);
    expect(seen).toHaveLength(2);
    expect(await usage.event(id)).toMatchObject({ raw_event_id: id, status: 'processed' });
    expect(JSON.parse(await usage.eventText(id))).toEqual(await usage.event(id));
    const exported: Uint8Array[] = [];
    const range = { from: OCCURRED_AT, to: OCCURRED_AT + 1 };
    for await (const bytes of usage.exportEvents(range)) exported.push(bytes);
    expect(Buffer.concat(exported).toString().trim().split('\n').length).toBe(3);
    const [failed] = (await usage.events({ status: 'failed' })).events;
    expect(await usage.reprocessEvent(failed?.raw_event_id as string)).toBeDefined();
    expect(await usage.reprocessEvents(range)).toBeDefined();
    expect([await usage.ingestStatus(), await usage.counters()]).toHaveLength(2);
    const { rows } = await analysis.query({
      metrics: [METRIC],
      time_range: { from: OCCURRED_AT, to: OCCURRED_AT + 1 },
      bucket_size: 'none',
    });
    expect(rows).toMatchObject([{ metric: METRIC, item_count: 2, quantity: '20', amount: '0.00005' }]);
    const query = { metrics: [METRIC], time_range: { from: OCCURRED_AT, to: OCCURRED_AT + 1 } };
    expect(await analysis.queryCsv({ ...query, bucket_size: 'none' })).toContain(`,${METRIC},`);
    for await (const { type, position } of analysis.follow({ query: [query] })) {
      expect([type, typeof position]).toEqual(['ready', 'string']);
      break;
    }
    expect((await analysis.metrics()).metrics).toContainEqual(expect.objectContaining({ metric: METRIC }));
  });

  it('corrections', async () => {
    const { corrections, usage } = project;
    const { raw_event_id: id } = await project.ingest(sample.ruleSetId, event('corrected'));
    await usage.event(id, { wait_seconds: 10 });
    const reason = 'wrong';
    const replaced = await corrections.replaceEvent(id, {
      raw_json: event('x', { input_tokens: 1, output_tokens: 1 }).raw_json,
      reason,
    });
    expect(await corrections.untilEnded(replaced.correction_id)).toMatchObject({ status: 'applied' });
    const voided = await corrections.voidEvent(id, { reason }, { idempotencyKey: 'void' });
    expect(await corrections.untilEnded(voided.correction_id)).toMatchObject({ status: 'applied' });
    const filter = { from: OCCURRED_AT, to: OCCURRED_AT + 1 };
    const plan = async () => (await corrections.create({ action: 'void', filter, reason, dry_run: true })).id;
    const applied = await corrections.untilEnded(await plan());
    await corrections.apply(applied.id);
    expect(await corrections.untilEnded(applied.id)).toMatchObject({ applied: { totals: applied.totals } });
    await corrections.revert(applied.id);
    expect(await corrections.untilEnded(applied.id)).toMatchObject({ status: 'reverted' });
    const discarded = await plan();
    expect(await corrections.delete(discarded)).toMatchObject({ status: 'expired' });
    const { corrections: listed } = await corrections.list();
    expect(ids(listed)).toEqual([discarded, applied.id, voided.correction_id, replaced.correction_id]);
    expect((await corrections.list({ raw_event_id: id })).total_count).toBe(2);
  });

  it('boards and charts', async () => {
    const { boards } = project;
    const { report_id } = await boards.create({ name: 'Usage' });
    expect(await boards.update(report_id, { timezone: 'Asia/Tokyo' })).toMatchObject({
      timezone: 'Asia/Tokyo',
    });
    const chart = { board_id: report_id, title: 'Cost', chart_type: 'line', metrics: [METRIC] } as const;
    const first = await boards.createChart({ ...chart, metrics: [METRIC] });
    const second = await boards.createChart({ ...chart, metrics: [METRIC] });
    await boards.updateChart(first.chart_id, { ...chart, title: 'Price', metrics: [METRIC] });
    const { charts } = await boards.reorder(report_id, [
      { chart_id: second.chart_id, position: 0, size: 'full' },
      { chart_id: first.chart_id, position: 1 },
    ]);
    expect(charts.map(({ title }) => title)).toEqual(['Cost', 'Price']);
    await boards.deleteChart(second.chart_id);
    expect((await boards.list()).boards).toMatchObject([
      { board: { report_id }, charts: [{ title: 'Price' }] },
    ]);
    expect(await boards.delete(report_id)).toBeUndefined();
    expect(await boards.list()).toEqual({ boards: [] });
  });

  it('accounts, wallets and the ledger', async () => {
    const { accounts } = project;
    const { id } = await accounts.create({ name: 'Ann', external_id: 'crm-1' });
    expect(ids((await accounts.list({ external_id: 'crm-1' })).accounts)).toEqual([id]);
    expect(await accounts.update(id, { metadata: { tier: 1 } })).toEqual(await accounts.get(id));
    expect(await accounts.setWalletMode(id, 'USD', 'prepaid')).toMatchObject({ mode: 'prepaid' });
    const credit = () => accounts.credit(id, 'USD', { amount: '25.50' }, { idempotencyKey: 'invoice-1' });
    expect(await credit()).toEqual(await credit());
    await accounts.adjust(id, 'USD', { amount: '-0.5', reason: 'rounding' }, { idempotencyKey: 'adjust-1' });
    await accounts.adjust(id, 'USD', { amount: '1', reason: 'kindness' });
    expect((await accounts.credits(id, 'USD')).total_count).toBe(2);
    expect((await accounts.wallets(id)).wallets).toMatchObject([{ currency: 'USD', balance: '26' }]);
    await accounts.setWalletMode(id, 'EUR', 'prepaid');
    const currencies: string[] = [];
    for await (const { currency } of accounts.allWallets(id, { limit: 1 })) currencies.push(currency);
    expect(currencies).toEqual(['EUR', 'USD']);
    expect((await accounts.ledger(id, { kind: 'credit' })).entries).toHaveLength(2);
    const amounts: string[] = [];
    for await (const entry of accounts.allLedgerEntries(id, { ledger_account: 'wallet', limit: 1 })) {
      amounts.push(entry.amount);
    }
    expect(amounts).toEqual(['1', '-0.5', '25.5']);
  });

  it('plans, routes, limits of one route, and where they stand', async () => {
    const { usageLimitPlans: plans, subjectRoutes: routes, realtimeLimits } = project;
    const { id } = await plans.create({ name: 'basic', title: 'Basic', rules: [LIMIT] });
    await plans.update(id, { title: 'Basics' });
    expect(await plans.publish(id)).toMatchObject({ revision: 1 });
    expect(await plans.get(id)).toMatchObject({ published: { title: 'Basics' }, draft: null });
    expect((await plans.versions(id)).total_count).toBe(1);
    expect((await plans.list({ search: 'BASIC', published: true })).total_count).toBe(1);
    expect(await plans.archive(id)).toMatchObject({ status: 'archived' });
    expect(await plans.restore(id)).toMatchObject({ status: 'published' });
    const { warnings, ...route } = await routes.create({ ...CUSTOMER, usage_limit_plan_id: id });
    expect([warnings, await routes.get(route.id)]).toEqual([[], route]);
    expect((await routes.update(route.id, { timezone: 'Asia/Tokyo' })).timezone).toBe('Asia/Tokyo');
    expect(ids((await routes.list({ ...CUSTOMER })).subject_routes)).toEqual([route.id]);
    const tested = await plans.backtest(id, { from: OCCURRED_AT - 60, to: OCCURRED_AT });
    expect(await plans.backtestResult(id, tested.id)).toMatchObject({ usage_limit_plan_id: id });
    expect(ids((await plans.backtests(id)).backtests)).toEqual([tested.id]);
    expect(await plans.cancelBacktest(id, tested.id)).toMatchObject({ id: tested.id });
    const limit = await routes.createLimit(route.id, { ...LIMIT, limit_key: 'own', limit_amount: '7.25' });
    expect(await routes.limit(route.id, limit.id)).toEqual(limit);
    await routes.updateLimit(route.id, limit.id, { limit_amount: '7.5', effective: 'now' });
    expect((await routes.limits(route.id)).limits).toMatchObject([{ limit_amount: '7.5' }]);
    const { limits } = await realtimeLimits.snapshot(CUSTOMER);
    expect(await realtimeLimits.crossings(CUSTOMER)).toMatchObject({ crossings: [], total_count: 0 });
    expect(limits.map(({ limit_amount }) => limit_amount).sort()).toEqual(['100', '7.5']);
    const check = (amount: string) => realtimeLimits.check({ ...CUSTOMER, amount, currency: 'USD' });
    expect([(await check('7.5')).allowed, (await check('7.51')).allowed]).toEqual([true, false]);
    const raise = { limit_key: 'own', amount: '1', until: 4_000_000_000, reason: 'a launch' };
    await routes.endRaise(route.id, (await routes.raise(route.id, raise)).id);
    expect((await routes.raises(route.id)).raises).toMatchObject([{ ...raise, status: 'ended' }]);
    await routes.deleteLimit(route.id, limit.id);
    await routes.delete(route.id);
  });

  it('budget leases', async () => {
    const { budgetLeases, subjectRoutes, settings } = project;
    expect(await settings.update({ unknown_subjects: 'allow' })).toEqual(await settings.get());
    const route = await subjectRoutes.create({ ...CUSTOMER });
    await subjectRoutes.createLimit(route.id, { ...LIMIT, limit_amount: '10' });
    const request = { ...CUSTOMER, amount: '6', currency: 'USD', ttl_seconds: 60 };
    const lease = await budgetLeases.create(request, { idempotencyKey: 'job-1' });
    expect((await budgetLeases.create(request, { idempotencyKey: 'job-1' })).id).toBe(lease.id);
    await expect(budgetLeases.create(request)).rejects.toMatchObject({ code: 'limit_exceeded', status: 409 });
    expect(await budgetLeases.renew(lease.id, 90)).toEqual(await budgetLeases.get(lease.id));
    const part = await budgetLeases.create({ ...request, amount: '2', parent_lease_id: lease.id });
    expect(ids((await budgetLeases.tree(part.id)).budget_leases)).toEqual([lease.id, part.id]);
    expect(await budgetLeases.close(lease.id)).toMatchObject({ status: 'closed' });
    const own = await budgetLeases.withLease(request, async ({ id }) => id, { settleSeconds: 0 });
    const ended = await budgetLeases.list({ ...CUSTOMER, status: 'closed' });
    expect(ids(ended.budget_leases)).toEqual([own, part.id, lease.id]);
    await subjectRoutes.delete(route.id);
  });

  it('webhook endpoints and their messages', async () => {
    const { webhookEndpoints: endpoints } = project;
    const messages: sdk.VerifiedWebhook[] = [];
    let secret = '';
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      messages.push(sdk.verifyWebhook(secret, request.headers, Buffer.concat(chunks)));
      response.writeHead(204).end();
    });
    const input = { url: await urlOf(receiver), event_types: ['*'] };
    const made = await endpoints.create(input);
    const { id } = made;
    secret = made.secret;
    expect(await endpoints.get(id)).toMatchObject({ id, status: 'enabled' });
    const { message_id } = await endpoints.test(id);
    await until('the message', async () => messages.length === 1);
    const data = { webhook_endpoint_id: id };
    expect(messages[0]).toMatchObject({ id: message_id, type: 'webhook.test', data });
    await until(
      'its delivery',
      async () => (await endpoints.deliveries(id, { status: 'delivered' })).total_count === 1,
    );
    expect(await endpoints.delivery(id, message_id)).toMatchObject({ message_id, status: 'delivered' });
    secret = (await endpoints.rotateSecret(id)).secret;
    await endpoints.redeliver(id, message_id);
    await until('the message again', async () => messages.length === 2);
    expect(messages[1]).toEqual(messages[0]);
    expect(await endpoints.update(id, { ...input, event_types: ['a.b'] })).toMatchObject({
      event_types: ['a.b'],
    });
    expect(ids((await endpoints.list()).webhook_endpoints)).toEqual([id]);
    await endpoints.delete(id);
    await closed(receiver);
  });

  it('sends operations that are documented, and gets documented responses', async () => {
    const asked = await requests.operationsOf(service.url);
    expect(asked.size).toBe(operationCount(project));
  });
});

it('the README works as written', async () => {
  const guide = guideOf(readFileSync(new URL('../packages/sdk/README.md', import.meta.url), 'utf8'));
  const answered = ['rows', 'ingest', 'series', 'limits', 'allowed', 'receiver'];
  const run = moduleFunction(guide.blocks('ts').join('\n'), { sdk, inputs: ['process', 'secret'], answered });
  const { key, projectId } = await createSampleProject(service);
  const env = { TOLLGATE_URL: service.url, TOLLGATE_API_KEY: key, TOLLGATE_PROJECT_ID: projectId };
  const printed: Uint8Array[] = [];
  const stdout = { write: (bytes: Uint8Array) => printed.push(bytes) };
  const shown = await run({ env, stdout, once: () => {} }, 'whsec_c2VjcmV0');
  expect(await shown.ingest.close({ timeoutMs: 120_000 })).toEqual([]);
  expect(shown.rows).toBeInstanceOf(Array);
  expect(shown.series).toMatchObject({ timezone: 'Europe/Berlin', group_by: ['bucket', 'model'] });
  expect(shown.limits).toMatchObject([{ limit_amount: '20' }]);
  expect(shown.allowed).toBe(true);
  expect(Buffer.concat(printed).toString()).toMatch(/^raw_event_id,/);
  const answer = await fetch(await urlOf(shown.receiver), { method: 'POST', body: '{}' });
  expect(answer.status).toBe(400);
  await closed(shown.receiver);
  for (const name of resourcesOf(project).keys()) expect(guide.text).toContain(`\`${name}\``);
});
