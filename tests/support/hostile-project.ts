import type { Board, ExtractorRuleSetInput, PricingRuleSetInput, Project } from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import type { OpenConsole } from './console.js';
import { BREAKS_OUT, HOSTILE_TEXTS, type HostileWriter } from './hostile-text.js';

/** A metric, a subject type and a webhook event that every JavaScript object has something of. */
const METRIC = 'constructor';
const FAILING_METRIC = 'tostring';
const SUBJECT_TYPE = 'constructor';
const EVENT_TYPE = 'constructor.__proto__';
const DIMENSION = '__proto__';

export interface HostileProject {
  readonly id: string;
  /** Where pages are of what was written: below the path of the project. */
  readonly paths: readonly string[];
}

interface Scene {
  readonly project: ProjectClient;
  readonly writer: HostileWriter;
  readonly nowS: number;
}

/** Writes hostile text into every field of every thing that the API takes it for. */
export async function writeHostileProject(
  opened: OpenConsole,
  writer: HostileWriter,
): Promise<HostileProject> {
  const [id = ''] = await writeTenancy(opened, writer);
  const scene = { project: opened.client.project(id), writer, nowS: Math.floor(Date.now() / 1_000) };
  const rules = await writeRules(scene);
  const planId = await writePlans(scene);
  const subjectId = await writeRoutes(scene, planId);
  await writeEndpoints(scene);
  await sendEvents(scene, rules.extractorId, subjectId);
  const boardId = await writeBoards(scene);
  const accountId = await writeMoney(scene);
  await scene.project.ruleTrials.startBacktest({
    extractor_rule_set_id: rules.extractorId,
    pricing: { rules: [] },
    time_range: { from: scene.nowS - 3_600, to: scene.nowS + 60 },
  });
  const extractor = `rules/extractor/${rules.extractorId}`;
  const pricing = `rules/pricing/${rules.pricingId}`;
  const subject = new URLSearchParams({ type: SUBJECT_TYPE, id: subjectId });
  return {
    id,
    paths: [
      ...['boards', `boards/${boardId}`, 'usage', 'rules', 'rules/new'],
      ...['', '/versions', '/test', '/backtest'].map((tab) => extractor + tab),
      ...['', '/versions'].map((tab) => pricing + tab),
      ...[`limits?${subject}`, 'limits/plans', `limits/plans/${planId}`, `limits/plans/${planId}/edit`],
      ...['limits/routes', 'limits/leases', 'billing', `billing/${accountId}`, 'webhooks'],
      ...['settings', 'settings/keys', 'settings/audit', 'start'],
    ],
  };
}

/** Returns the ids of the projects. */
async function writeTenancy({ service, tenant }: OpenConsole, writer: HostileWriter): Promise<string[]> {
  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${service.url}/admin/v1/tenants/${tenant.tenantId}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.serviceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as T;
  };
  const ids: string[] = [];
  for (const name of writer.texts('project name', HOSTILE_TEXTS.length)) {
    ids.push((await post<Project>('/projects', { name, kind: 'development' })).id);
  }
  for (const name of writer.texts('key name')) await post('/api-keys', { name, permissions: ['usage:read'] });
  return ids;
}

async function writeRules({ project, writer }: Scene) {
  const { extractorRuleSets, pricingRuleSets } = project;
  const extractor = (): ExtractorRuleSetInput => ({
    name: writer.text('extractor rule set name'),
    effective_from: 0,
    subject: { default_type: SUBJECT_TYPE, id_path: '$.customer' },
    dimensions: [
      { name: DIMENSION, path: '$.model', type: 'string' },
      { name: 'model', path: '$.model', type: 'string' },
    ],
    charge_item_extractors: [
      ...writer.texts('extractor name').map((name, index) => ({
        ...{ name, metric: index === 0 ? METRIC : `${METRIC}.m${index}`, path: `$['${METRIC}']` },
        ...{ type: 'number' as const, unit: writer.text('unit') },
      })),
      { metric: FAILING_METRIC, path: '$.failing', type: 'number' },
    ],
  });
  const { id } = await extractorRuleSets.create(extractor());
  const pricing = (): PricingRuleSetInput => ({
    extractor_rule_set_id: id,
    name: writer.text('pricing rule set name'),
    effective_from: 0,
    currency: 'CONSTRUCTOR',
    rules: [
      ...writer.texts('pricing rule name').map((name) => ({
        ...{ name, metric: METRIC, unit_price_expr: 'dec("0.01")' },
        match_expr: `dimensions.model != ${JSON.stringify(writer.text('expression'))}`,
      })),
      { metric: FAILING_METRIC, unit_price_expr: 'dec(dimensions.model)' },
    ],
  });
  const { id: pricingId } = await pricingRuleSets.create(pricing());
  await pricingRuleSets.publish(pricingId);
  await extractorRuleSets.publish(id);
  // Next to what is published a draft, to be compared with it.
  await extractorRuleSets.update(id, extractor());
  await pricingRuleSets.update(pricingId, pricing());
  return { extractorId: id, pricingId };
}

function planBody(writer: HostileWriter) {
  const value = () => writer.text('dimension value of a limit', (text) => BREAKS_OUT + text);
  const rules = [value(), value()].map((dimension_value, index) => ({
    ...{ limit_key: `${METRIC}.${index}`, measure: 'quantity' as const, selector_type: 'metric' as const },
    ...{ selector_value: METRIC, dimension_key: DIMENSION, dimension_value },
    ...{ period: 'month', limit_amount: '5', action: 'notify' as const, webhook_event: EVENT_TYPE },
  }));
  return { title: writer.text('plan title'), description: writer.text('plan description'), rules };
}

/** Returns the id of a plan that has two revisions and a draft. */
async function writePlans({ project: { usageLimitPlans }, writer }: Scene): Promise<string> {
  const { id } = await usageLimitPlans.create({ name: 'constructor', ...planBody(writer) });
  await usageLimitPlans.publish(id);
  await usageLimitPlans.update(id, planBody(writer));
  await usageLimitPlans.publish(id);
  await usageLimitPlans.update(id, { title: writer.text('plan title') });
  for (const [index, title] of writer.texts('plan title').entries()) {
    await usageLimitPlans.create({ name: `plan_${index}`, title });
  }
  return id;
}

/** Returns the id of a subject that has limits and a lease. */
async function writeRoutes({ project, writer }: Scene, planId: string): Promise<string> {
  const subjectIds = writer.texts('subject id of a route');
  const routeIds: string[] = [];
  for (const subject_id of subjectIds) {
    const route = { subject_type: SUBJECT_TYPE, subject_id, usage_limit_plan_id: planId };
    routeIds.push((await project.subjectRoutes.create(route)).id);
  }
  const [routeId = ''] = routeIds;
  const [subject_id = ''] = subjectIds;
  await project.subjectRoutes.createLimit(routeId, {
    ...{ limit_key: METRIC, measure: 'quantity', selector_type: 'all', period: 'lifetime', action: 'block' },
    ...{ limit_amount: '7', dimension_key: DIMENSION, dimension_value: writer.text('direct limit') },
  });
  const lease = { amount: '1', currency: 'CONSTRUCTOR', ttl_seconds: 3_600 };
  await project.budgetLeases.create({ subject_type: SUBJECT_TYPE, subject_id, ...lease });
  return subject_id;
}

async function writeEndpoints({ project: { webhookEndpoints }, writer }: Scene): Promise<void> {
  // Without characters that a URL cannot have.
  const url = () =>
    writer.text('endpoint URL', (text) => `https://hooks.example/${text.replace(/[\s\\#]/g, '')}`);
  for (const description of writer.texts('endpoint description')) {
    await webhookEndpoints.create({ url: url(), description, event_types: [EVENT_TYPE] });
  }
}

async function sendEvents({ project, writer, nowS }: Scene, ruleSetId: string, subjectId: string) {
  const fresh = (field: string) => writer.text(field);
  const events = Array.from({ length: 12 }, (_, index) => ({
    extractor_rule_set_id: ruleSetId,
    source: fresh('source'),
    idempotency_key: fresh('idempotency key'),
    external_event_id: fresh('external id'),
    occurred_at: nowS,
    metadata: { [fresh('metadata key')]: fresh('metadata') },
    raw_json: {
      customer: index % 2 === 0 ? subjectId : fresh('subject id'),
      model: fresh('dimension value'),
      [METRIC]: 3,
      [fresh('raw_json key')]: fresh('raw_json value'),
      ...(index >= 10 && { failing: 1 }),
    },
  }));
  await project.batchIngest({ events });
  await waitFor(async () => (await project.usage.events({ limit: 100 })).events.length === events.length, {
    ...{ timeoutMs: 120_000, what: 'the hostile events' },
  });
}

/** Returns the id of a board that has charts. */
async function writeBoards({ project: { boards }, writer }: Scene): Promise<string> {
  const made: Board[] = [];
  for (const name of writer.texts('board name')) {
    made.push(await boards.create({ name, description: writer.text('board description') }));
  }
  const board_id = made[0]?.report_id ?? '';
  const fresh = () => ({
    board_id,
    title: writer.text('chart title'),
    description: writer.text('chart description'),
  });
  const asked = { group_by: ['model'], measures: ['quantity' as const], metrics: [METRIC] };
  const filters = { model: { not_in: writer.texts('filter value') } };
  await boards.createChart({ ...fresh(), ...asked, chart_type: 'area', size: 'full', filters });
  await boards.createChart({ ...fresh(), ...asked, chart_type: 'bar', group_by: [DIMENSION] });
  await boards.createChart({ ...fresh(), ...asked, chart_type: 'line', measures: ['amount'] });
  return board_id;
}

/** Returns the id of an account that has credits and adjustments. */
async function writeMoney({ project: { accounts }, writer }: Scene): Promise<string> {
  const ids: string[] = [];
  for (const name of writer.texts('account name')) {
    ids.push((await accounts.create({ name, external_id: writer.text('external id of an account') })).id);
  }
  const [id = ''] = ids;
  for (const [index, description] of writer.texts('credit description').entries()) {
    await accounts.credit(id, 'USD', { amount: '1', description }, { idempotencyKey: `hostile-${index}` });
  }
  for (const reason of writer.texts('adjustment reason')) {
    await accounts.adjust(id, 'USD', { amount: '1', reason });
  }
  return id;
}
