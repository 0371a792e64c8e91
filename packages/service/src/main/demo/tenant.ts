import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CreatedApiKey, Project, Tenant } from '@tollgate/contract';
import { type ProjectClient, TollgateClient } from '@tollgate/sdk';
import { makeFolder } from '../../platform/make-folder.js';
import { MARGIN_BOARD, MARGIN_CHARTS, SAMPLE_BOARD, SAMPLE_CHARTS } from './sample-board.js';
import { SAMPLE_PLAN, SAMPLE_ROUTE } from './sample-limits.js';
import { SAMPLE_COSTS, SAMPLE_EXTRACTOR, SAMPLE_PRICES } from './sample-rules.js';

/** Values that the demo keeps between starts. */
export interface DemoTenant {
  readonly tenantId: string;
  readonly projectId: string;
  readonly ruleSetId: string;
  /** A key that may do everything within the sample tenant. */
  readonly key: string;
}

const STATE_FILE = 'demo.json';

/** Returns the sample tenant of this data directory; creates it through the public API when there is none yet. */
export async function ensureDemoTenant(
  url: string,
  serviceKey: string,
  dataDir: string,
): Promise<{ tenant: DemoTenant; isNew: boolean }> {
  const file = join(dataDir, STATE_FILE);
  const kept = readState(file);
  if (kept !== undefined) return { tenant: kept, isNew: false };
  const tenant = await createDemoTenant(url, serviceKey);
  makeFolder(dataDir);
  writeFileSync(file, `${JSON.stringify(tenant, null, 2)}\n`, { mode: 0o600 });
  return { tenant, isNew: true };
}

function readState(file: string): DemoTenant | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the id of the board that the demo opens with; undefined where it was deleted. */
export async function demoBoardId(url: string, { key, projectId }: DemoTenant): Promise<string | undefined> {
  const { boards } = await new TollgateClient({ baseUrl: url, apiKey: key }).project(projectId).boards.list();
  return boards[0]?.board.report_id;
}

async function createDemoTenant(url: string, serviceKey: string): Promise<DemoTenant> {
  const post = async <Created>(path: string, body: object): Promise<Created> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Created;
  };
  const tenant = await post<Tenant>('/admin/v1/tenants', { name: 'Sample AI company' });
  const admin = `/admin/v1/tenants/${tenant.id}`;
  const { id: projectId } = await post<Project>(`${admin}/projects`, {
    name: 'LLM gateway',
    kind: 'development',
  });
  const { key } = await post<CreatedApiKey>(`${admin}/api-keys`, {
    name: 'Demo',
    permissions: ['tenant:admin'],
  });
  const project = new TollgateClient({ baseUrl: url, apiKey: key }).project(projectId);
  const ruleSetId = await publishRules(project);
  await limitCustomers(project);
  await drawUsage(project);
  return { tenantId: tenant.id, projectId, ruleSetId, key };
}

/** Returns the id of the extractor rule set. */
async function publishRules({ extractorRuleSets, pricingRuleSets }: ProjectClient): Promise<string> {
  const ruleSet = await extractorRuleSets.create({
    name: 'LLM calls',
    effective_from: 0,
    ...SAMPLE_EXTRACTOR,
  });
  const bound = { extractor_rule_set_id: ruleSet.id, effective_from: 0 };
  const prices = await pricingRuleSets.create({ ...bound, name: 'Model prices', ...SAMPLE_PRICES });
  await pricingRuleSets.publish(prices.id);
  const named = { name: 'Provider costs', purpose: 'cost' } as const;
  const costs = await pricingRuleSets.create({ ...bound, ...named, ...SAMPLE_COSTS });
  await pricingRuleSets.publish(costs.id);
  await extractorRuleSets.publish(ruleSet.id);
  return ruleSet.id;
}

async function limitCustomers({ usageLimitPlans, subjectRoutes }: ProjectClient): Promise<void> {
  const plan = await usageLimitPlans.create(SAMPLE_PLAN);
  await usageLimitPlans.publish(plan.id);
  await subjectRoutes.create({ ...SAMPLE_ROUTE, usage_limit_plan_id: plan.id });
}

async function drawUsage({ boards }: ProjectClient): Promise<void> {
  for (const [board, charts] of [
    [SAMPLE_BOARD, SAMPLE_CHARTS],
    [MARGIN_BOARD, MARGIN_CHARTS],
  ] as const) {
    const { report_id } = await boards.create(board);
    for (const chart of charts) await boards.createChart({ ...chart, board_id: report_id });
  }
}
