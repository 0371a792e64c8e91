// The files of the service that one event passes: those of which at least one function runs.
//
//     node bench/event-path.mjs [json=0]
//
// One event like that of docs/walkthrough.md is accepted, rated, posted, encoded and projected. V8's precise coverage
// says which functions ran. The service is warm: two events came before, so the rules are compiled and caches are full.
// `json=1` prints the lists as JSON: by stage, and all of the first event, which compiles the rules too. Needs a build.
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { generateApiKey } from '../packages/service/dist/kernel/api-key-text.js';
import { ManualClock } from '../packages/service/dist/kernel/clock.js';
import { createEntitlements, TenantAdmission } from '../packages/service/dist/modules/catalog/index.js';
import { IngestService, registerIngestRoutes } from '../packages/service/dist/modules/ingest/index.js';
import {
  createApiCatalog,
  createLimitManagement,
  createWorkerCatalog,
  registerLimitManagementRoutes,
} from '../packages/service/dist/modules/limits/index.js';
import {
  createFileSpool,
  createPipelineWorker,
  createProjector,
} from '../packages/service/dist/modules/pipeline/index.js';
import { EventQuotas } from '../packages/service/dist/modules/quotas/index.js';
import {
  createRuleSets,
  createRuleVersions,
  registerRuleSetRoutes,
} from '../packages/service/dist/modules/rules/index.js';
import { PostgresSegmentQueue, SegmentFiles } from '../packages/service/dist/platform/queue/index.js';
import { everythingAdmitted } from '../packages/service/dist/testing/admission.js';
import { postBytes, Wire } from '../packages/service/dist/testing/both-ways.js';
import { createTenancyApp } from '../packages/service/dist/testing/tenancy-app.js';
import { openEmbeddedStores } from './embedded-stores.mjs';

const SERVICE = new URL('../packages/service/dist/', import.meta.url).href;
const TIME_S = 1_790_000_000;
const SUBJECT = { subject_type: 'user', subject_id: 'u-42' };
const asJson = process.argv.includes('json=1');

const stores = await openEmbeddedStores({ poolMax: 8, withClickHouse: true });
const { dataDir, postgres, clickhouse } = stores;
let app;
try {
  const { send, rate, project } = await startService();
  const coverage = await startCoverage();
  const pass = async (number) => {
    await coverage.files();
    await send(number);
    const accept = await coverage.files();
    await rate();
    const ratePostEncode = await coverage.files();
    await project();
    return { accept, ratePostEncode, project: await coverage.files() };
  };
  const first = await pass(1);
  await pass(2);
  report(await pass(3), first);
} finally {
  await app?.close();
  await stores.close();
}
// The embedded ClickHouse keeps the process alive.
process.exit();

/** A service in this process: its API, its rating and its projector, with a project as in the walkthrough. */
async function startService() {
  const clock = new ManualClock(TIME_S * 1_000);
  const serviceKey = generateApiKey('live');
  ({ app } = await createTenancyApp({ postgres, clock, serviceKey }));
  const ruleSets = createRuleSets({ postgres, clock });
  const queue = new PostgresSegmentQueue(postgres, await SegmentFiles.open(join(dataDir, 'segments')));
  const baseline = { plan: 'unlimited', eventAgeDaysMax: 30, eventAheadDaysMax: 1 };
  const service = new IngestService({
    queue,
    quotas: new EventQuotas(postgres, queue),
    publications: ruleSets.publications,
    clock,
    admission: new TenantAdmission(createEntitlements({ postgres, clock, baseline, monotonicMs: () => 0 })),
    scheduler: { every: () => () => {} },
  });
  const limits = { postgres, clock, catalog: createApiCatalog(), admission: everythingAdmitted };
  registerRuleSetRoutes(app, ruleSets);
  registerLimitManagementRoutes(
    app,
    createLimitManagement({ ...limits, otherSubjectTypes: async () => undefined }),
  );
  registerIngestRoutes(app, { service });
  app.addHook('onClose', () => service.close());
  const { path, key, ruleSetId } = await createProject(serviceKey);
  const fail = (error) => {
    throw error;
  };
  const observer = {
    ...{ stage() {}, batch() {}, group() {} },
    ...{ batchFailed: fail, groupFailed: fail, spoolCorrupt: fail, defect: fail },
  };
  const spool = await createFileSpool(join(dataDir, 'spool'));
  const worker = createPipelineWorker({
    ...{ postgres, queue, spool, clock, observer },
    rules: createRuleVersions(postgres),
    limits: createWorkerCatalog(),
    onCommitted() {},
  });
  const projector = createProjector({ postgres, clickhouse, spool, clock, observer });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    rate: () => worker.drain(),
    async send(number) {
      const event = {
        ...{ source: 'gateway', idempotency_key: `call-${number}`, occurred_at: TIME_S },
        ...{ ...SUBJECT, raw_json: { model: 'large', usage: { input_tokens: 1_200, output_tokens: 300 } } },
      };
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const url = `${path}/extractor-rule-sets/${ruleSetId}/events/ingest`;
      const { port } = app.server.address();
      const { status, body } = await Wire.exchange(port, postBytes(url, headers, JSON.stringify(event)));
      if (status !== 202) throw new Error(body);
    },
    async project() {
      const events = await projector.drain();
      if (events !== 1) throw new Error(`${events} events were projected`);
    },
  };
}

/** A project with rules of two metrics, a price for each, and a plan with a limit of 1 USD a month. */
async function createProject(serviceKey) {
  const call = async (url, payload) => {
    const headers = { authorization: `Bearer ${serviceKey}` };
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload });
    if (statusCode >= 300) throw new Error(`${url}: ${body}`);
    return JSON.parse(body);
  };
  const tenant = `/admin/v1/tenants/${(await call('/admin/v1/tenants', { name: 'Acme' })).id}`;
  const path = `/v1/projects/${(await call(`${tenant}/projects`, { name: 'Chat', kind: 'release' })).id}`;
  const { key } = await call(`${tenant}/api-keys`, { name: 'gateway', permissions: ['usage:ingest'] });
  const published = async (kind, body) => {
    const { id } = await call(`${path}/${kind}`, body);
    await call(`${path}/${kind}/${id}/publish`);
    return id;
  };
  const metrics = [
    ['input', '0.000001'],
    ['output', '0.000004'],
  ];
  const ruleSetId = await published('extractor-rule-sets', {
    dimensions: [{ name: 'model', path: '$.model', type: 'string', required: true }],
    charge_item_extractors: metrics.map(([name]) => ({
      ...{ metric: `llm.${name}_tokens`, path: `$.usage.${name}_tokens`, type: 'number', unit: 'token' },
    })),
  });
  await published('pricing-rule-sets', {
    extractor_rule_set_id: ruleSetId,
    currency: 'USD',
    rules: metrics.map(([name, price]) => ({
      ...{ name, metric: `llm.${name}_tokens`, match_expr: 'dimensions.model == "large"' },
      unit_price_expr: `dec("${price}")`,
    })),
  });
  const limit = {
    limit_key: 'spend',
    measure: 'amount',
    selector_type: 'all',
    selector_value: '',
    currency: 'USD',
  };
  const planId = await published('usage-limit-plans', {
    ...{ name: 'free', title: 'Free' },
    rules: [{ ...limit, period: 'month', limit_amount: '1', action: 'block' }],
  });
  await call(`${path}/subject-routes`, { ...SUBJECT, usage_limit_plan_id: planId });
  return { path, key, ruleSetId };
}

async function startCoverage() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    /** The files of the service with a function that ran since the last call. */
    async files() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const ran = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0));
      const paths = ran
        .filter(({ url }) => url.startsWith(SERVICE))
        .map(({ url }) => url.slice(SERVICE.length));
      return paths.filter((path) => !path.startsWith('testing/')).map((path) => path.replace(/\.js$/, '.ts'));
    },
  };
}

function report(warm, first) {
  const all = (stages) => [...new Set(Object.values(stages).flat())].sort();
  if (asJson) {
    console.log(JSON.stringify({ stages: warm, files: all(warm), first: all(first) }));
    return;
  }
  const files = all(warm);
  for (const file of files) console.log(file);
  const inModules = files.filter((file) => file.startsWith('modules/'));
  console.log(
    `${files.length} files, ${inModules.length} of them in modules; ${all(first).length} for the first event`,
  );
  for (const [stage, list] of Object.entries(warm)) console.log(`  ${stage}: ${list.length}`);
}
