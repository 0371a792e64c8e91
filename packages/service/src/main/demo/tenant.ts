import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CreatedApiKey, ExtractorRuleSet, Project, Tenant, UsageLimitPlan } from '@tollgate/contract';
import { TollgateClient } from '@tollgate/sdk';
import { SAMPLE_PLAN, SAMPLE_ROUTE } from './sample-limits.js';
import { SAMPLE_EXTRACTOR, SAMPLE_PRICES } from './sample-rules.js';

/** What the demo remembers between starts. */
export interface DemoTenant {
  readonly tenantId: string;
  readonly projectId: string;
  readonly ruleSetId: string;
  /** A key that may do everything within the sample tenant. */
  readonly key: string;
}

const STATE_FILE = 'demo.json';

/** The sample tenant of this data directory; made through the public API when there is none yet. */
export async function ensureDemoTenant(
  url: string,
  serviceKey: string,
  dataDir: string,
): Promise<{ tenant: DemoTenant; isNew: boolean }> {
  const file = join(dataDir, STATE_FILE);
  const kept = readState(file);
  if (kept !== undefined) return { tenant: kept, isNew: false };
  const tenant = await createDemoTenant(url, serviceKey);
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

async function createDemoTenant(url: string, serviceKey: string): Promise<DemoTenant> {
  const post = async <Created>(path: string, body?: object): Promise<Created> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${serviceKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Created;
  };
  const tenant = await post<Tenant>('/admin/v1/tenants', { name: 'Sample AI company' });
  const admin = `/admin/v1/tenants/${tenant.id}`;
  const project = await post<Project>(`${admin}/projects`, { name: 'LLM gateway', kind: 'development' });
  const { key } = await post<CreatedApiKey>(`${admin}/api-keys`, {
    name: 'Demo',
    permissions: ['tenant:admin'],
  });
  const client = new TollgateClient({ baseUrl: url, apiKey: key }).project(project.id);
  const ruleSet: ExtractorRuleSet = await client.createRuleSet({
    name: 'LLM calls',
    effective_from: 0,
    ...SAMPLE_EXTRACTOR,
  });
  const prices = await client.createPricingRuleSet({
    extractor_rule_set_id: ruleSet.id,
    name: 'Model prices',
    effective_from: 0,
    ...SAMPLE_PRICES,
  });
  await client.publishPricingRuleSet(prices.id);
  await client.publishRuleSet(ruleSet.id);
  const inProject = `/v1/projects/${project.id}`;
  const plan = await post<UsageLimitPlan>(`${inProject}/usage-limit-plans`, SAMPLE_PLAN);
  await post(`${inProject}/usage-limit-plans/${plan.id}/publish`);
  await post(`${inProject}/subject-routes`, { ...SAMPLE_ROUTE, usage_limit_plan_id: plan.id });
  return { tenantId: tenant.id, projectId: project.id, ruleSetId: ruleSet.id, key };
}
