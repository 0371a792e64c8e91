// Pictures of every page of the console, in both themes, on a desk and on a phone; with `on=wide` on a very
// wide screen.
//
//     npm run screenshots [-- <folder>] [only=<text of the name>] [on=<devices>]
//
// A service of its own, with a week of sample usage, is started on an empty folder and looked at with a
// browser. The pictures go to `screenshots/`, and those that the README shows to `docs/images/`. Needs a
// build.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import sparticuz from '@sparticuz/chromium';
import { TollgateClient } from '@tollgate/sdk';
import { chromium } from 'playwright-core';
import { BenchService } from '../bench/service.mjs';
import { dailyRhythm, sampleCall, seededRandom } from '../packages/service/dist/main/demo/sample-traffic.js';
import { ensureDemoTenant } from '../packages/service/dist/main/demo/tenant.js';
import { CUSTOMER, pagesOf } from './screenshot-pages.mjs';

const args = process.argv.slice(2);
const only = option('only', '');
const devices = option('on', 'desk,phone').split(',');
const folder = args.find((text) => !text.includes('=')) ?? 'screenshots';
const IMAGES = fileURLToPath(new URL('../docs/images', import.meta.url));
const VIEWS = [
  { theme: 'light', name: 'desk', width: 1_440, height: 900 },
  { theme: 'dark', name: 'desk', width: 1_440, height: 900 },
  { theme: 'light', name: 'phone', width: 360, height: 780 },
  { theme: 'dark', name: 'phone', width: 360, height: 780 },
  { theme: 'light', name: 'wide', width: 2_560, height: 1_300 },
  { theme: 'dark', name: 'wide', width: 2_560, height: 1_300 },
].filter(({ name }) => devices.includes(name));
/** Screenshots in the README, by the name of their page. */
const IN_README = { board: 'board', 'usage-event': 'event', 'rules-test': 'rules' };
const HOURS = 7 * 24;
const CALLS_PER_HOUR = 60;
const HOUR_S = 3_600;
const BATCH_EVENTS = 1_000;
const LEASED_CALLS = 4;
const SETTLE_TIMEOUT_MS = 60_000;

process.env.TOLLGATE_WEBHOOK_ALLOW_PRIVATE = '1';
process.env.TOLLGATE_PAYMENT_PROVIDER = 'sandbox';
const receiver = createServer((_request, response) => response.writeHead(204).end());
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const stateFolder = mkdtempSync(join(tmpdir(), 'tollgate-screenshots-'));
const service = await BenchService.start();
try {
  const { host, port } = service.address;
  const url = `http://${host}:${port}`;
  const { tenant } = await ensureDemoTenant(url, service.serviceKey, stateFolder);
  const pages = pagesOf(await prepare(url, tenant)).filter(({ name }) => name.includes(only));
  mkdirSync(folder, { recursive: true });
  mkdirSync(IMAGES, { recursive: true });
  for (const view of VIEWS) await takeAll(url, tenant, view, pages);
} finally {
  await service.stop();
  service.removeData();
  receiver.close();
  rmSync(stateFolder, { recursive: true, force: true });
}

function option(name, otherwise) {
  return args.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1) ?? otherwise;
}

/** Sample usage of a week, and some of everything else; returns the ids that the pages need. */
async function prepare(url, tenant) {
  const project = new TollgateClient({ baseUrl: url, apiKey: tenant.key }).project(tenant.projectId);
  const { webhookEndpoints, accounts, boards, usageLimitPlans, pricingRuleSets } = project;
  const endpoint = await webhookEndpoints.create({
    url: `http://127.0.0.1:${receiver.address().port}/hooks`,
    description: 'Alerts for the support team',
    event_types: ['*'],
  });
  await webhookEndpoints.test(endpoint.id);
  const sent = await sendWeek(project, tenant.ruleSetId);
  await settled(`${sent} events`, async () => (await service.counters()).queryable >= sent);
  const [account] = (await accounts.list()).accounts;
  await accounts.update(account.id, {
    timezone: 'Europe/Berlin',
    metadata: { segment: 'enterprise', seats: 25 },
  });
  await accounts.credit(account.id, 'USD', { amount: '500' }, { idempotencyKey: 'first-credit' });
  const lease = await divideLease(project, tenant.ruleSetId);
  const [{ board }, { board: margins }] = (await boards.list()).boards;
  const [plan] = (await usageLimitPlans.list()).usage_limit_plans;
  const [price] = (await pricingRuleSets.list({ purpose: 'price' })).pricing_rule_sets;
  const [cost] = (await pricingRuleSets.list({ purpose: 'cost' })).pricing_rule_sets;
  const empty = await service.ask('POST', `/admin/v1/tenants/${tenant.tenantId}/projects`, {
    name: 'Image service',
    kind: 'development',
  });
  const corrected = await correctSome(project);
  return { tenant, account, endpoint, board, margins, plan, price, cost, empty, lease, ...corrected };
}

/** Opens a lease of an agent with parts for its steps, uses some of it, and returns its id. */
async function divideLease(project, ruleSetId) {
  const { budgetLeases } = project;
  const work = { subject_type: 'customer', subject_id: CUSTOMER, ttl_seconds: HOUR_S };
  const holding = (amount, quantity) => ({
    ...work,
    holds: [
      { amount, currency: 'USD' },
      { quantity, metric: 'llm.output_tokens' },
    ],
  });
  const { id } = await budgetLeases.create(holding('2.5', '120000'));
  const partOf = (parent_lease_id, amount, quantity) =>
    budgetLeases.create({ ...holding(amount, quantity), parent_lease_id });
  const step = await partOf(id, '0.8', '40000');
  await partOf(id, '0.25', '10000');
  const low = await partOf(step.id, '0.3', '15000');
  const random = seededRandom(3);
  const events = [id, step.id, low.id].flatMap((leaseId, index) =>
    Array.from({ length: LEASED_CALLS }, (_, call) => ({
      extractor_rule_set_id: ruleSetId,
      idempotency_key: `leased-${leaseId}-${call}`,
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { ...sampleCall(index, random), customer: CUSTOMER },
      'x-usage-control': { budget_lease_id: leaseId },
    })),
  );
  await project.batchIngest({ source: 'agent', events });
  await settled('the usage of the leases', async () =>
    (await budgetLeases.get(low.id)).holds.every(({ used }) => used !== '0'),
  );
  return id;
}

/** Voids an event and plans a correction; returns the ids of both. */
async function correctSome({ corrections, usage }) {
  const to = Math.floor(Date.now() / 1_000);
  const [event] = (await usage.events({ subject_id: CUSTOMER, status: 'processed', limit: 1 })).events;
  const voided = event.raw_event_id;
  const { correction_id: id } = await corrections.voidEvent(voided, { reason: 'Sent twice by the gateway' });
  await corrections.untilEnded(id);
  await settled('the void', async () => (await usage.event(voided)).status === 'voided');
  const { id: correction } = await corrections.create({
    action: 'rerate',
    filter: { from: to - 24 * HOUR_S, to, subject_id: CUSTOMER },
    rules: { pricing: [] },
    reason: 'The contract with this customer has no prices',
    dry_run: true,
  });
  await corrections.untilEnded(correction);
  return { correction, voided };
}

async function sendWeek(project, ruleSetId) {
  const random = seededRandom(7);
  const nowS = Math.floor(Date.now() / 1_000);
  const events = [];
  for (let hour = HOURS; hour > 0; hour -= 1) {
    const startS = nowS - hour * HOUR_S;
    const calls = Math.round(CALLS_PER_HOUR * dailyRhythm(startS));
    for (let call = 0; call < calls; call += 1) {
      events.push({
        extractor_rule_set_id: ruleSetId,
        idempotency_key: `week-${events.length}`,
        occurred_at: startS + Math.floor(random() * HOUR_S),
        raw_json: sampleCall(events.length, random),
      });
    }
  }
  for (let first = 0; first < events.length; first += BATCH_EVENTS) {
    await project.batchIngest({ source: 'gateway', events: events.slice(first, first + BATCH_EVENTS) });
  }
  return events.length;
}

async function takeAll(url, tenant, view, pages) {
  const { theme, name: device, width, height } = view;
  // The packaged browser is one process: earlier pages must not affect the next pictures.
  const browser = await chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: sparticuz.args,
    headless: true,
  });
  const context = await browser.newContext({
    locale: 'en-GB',
    colorScheme: theme,
    viewport: { width, height },
  });
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('API key').waitFor();
  await take(page, `sign-in-${device}-${theme}`);
  await page.goto('about:blank');
  await page.goto(`${url}/sign-in#key=${tenant.key}`);
  await page.getByRole('heading', { name: 'Boards' }).waitFor();
  for (const { name, path, project, act } of pages) {
    await page.goto(`${url}/p/${project}/${path}`);
    await quiet(page);
    await act?.(page);
    await quiet(page);
    const file = await take(page, `${name}-${device}-${theme}`);
    const shown = IN_README[name];
    if (shown !== undefined && device === 'desk' && theme === 'light')
      await copyFile(file, join(IMAGES, `${shown}.png`));
  }
  await browser.close();
}

/** Nothing that can be seen is loading: what is further down is not asked for yet. */
async function quiet(page) {
  await page.locator('main').waitFor();
  await settled(page.url(), () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.animate-pulse, [aria-busy=true]')].every((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= window.innerHeight || bottom <= 0;
      }),
    ),
  );
  await page.evaluate(() => document.fonts.ready);
  // Streams stay open, so the network is never idle; what is asked for is there within this time, or would
  // look slow to people too.
  await delay(1_000);
}

async function take(page, name) {
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  console.log(file);
  return file;
}

async function settled(what, holds) {
  const endMs = performance.now() + SETTLE_TIMEOUT_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`${what} did not settle within ${SETTLE_TIMEOUT_MS} ms`);
    await delay(100);
  }
}
