import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { call, created } from './http.js';

/** The address of the service under test. */
export interface ServiceAddress {
  readonly url: string;
  readonly serviceKey: string;
}

/** A tenant with one project, an all-powerful key, and published LLM rules. */
export interface SampleProject {
  readonly tenantId: string;
  readonly projectId: string;
  readonly key: string;
  readonly ruleSetId: string;
  /** Values for the path parameters of the API description. */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** USD per token; amounts in tests are computed from these as scaled integers, without the service's decimals. */
export const INPUT_PRICE = '0.0000025';
export const OUTPUT_PRICE = '0.00001';

const token = (name: string, path: string, price: string) => ({
  name,
  metric: `llm.${name}`,
  path,
  type: 'number',
  unit: 'token',
  currency: 'USD',
  unit_price_expr: `dec("${price}")`,
  amount_expr: 'dec_mul(item.quantity, item.unit_price)',
});

export const SAMPLE_RULE_SET = {
  name: 'LLM usage',
  subject: { default_type: 'customer', id_path: '$.customer', required: true },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'region', path: '$.region', type: 'string' },
  ],
  charge_item_extractors: [
    token('input_tokens', '$.usage.input_tokens', INPUT_PRICE),
    token('output_tokens', '$.usage.output_tokens', OUTPUT_PRICE),
  ],
} as const;

export interface SampleProjectOptions {
  readonly kind?: 'development' | 'release';
  /** Done with the tenant before it gets its project. */
  readonly onTenant?: (tenantId: string) => Promise<void>;
}

export async function createSampleProject(
  service: ServiceAddress,
  { kind = 'development', onTenant }: SampleProjectOptions = {},
): Promise<SampleProject> {
  const asService = { key: service.serviceKey };
  const tenant = await created(service, '/admin/v1/tenants', { ...asService, body: { name: 'Test tenant' } });
  await onTenant?.(String(tenant.id));
  const admin = `/admin/v1/tenants/${tenant.id}`;
  const project = await created(service, `${admin}/projects`, {
    ...asService,
    body: { name: 'test', kind },
  });
  const apiKey = await created(service, `${admin}/api-keys`, {
    ...asService,
    body: { name: 'all', permissions: ['tenant:admin'] },
  });
  const key = String(apiKey.key);
  const ruleSets = `/v1/projects/${project.id}/extractor-rule-sets`;
  const ruleSet = await created(service, ruleSets, { key, body: SAMPLE_RULE_SET });
  const published = await call(service, 'POST', `${ruleSets}/${ruleSet.id}/publish`, { key });
  if (published.status !== 200) throw new Error(`publishing failed: ${published.text}`);
  const [tenantId, projectId, ruleSetId] = [tenant.id, project.id, ruleSet.id].map(String) as [
    string,
    string,
    string,
  ];
  const pathParameters = { tenant_id: tenantId, project_id: projectId, id: ruleSetId };
  return { tenantId, projectId, key, ruleSetId, pathParameters };
}

/** Sends a batch of events to a new project, and waits until all of them are rated and in ClickHouse. */
export async function processSampleEvents(service: ServiceAddress, count: number): Promise<void> {
  const { projectId, key, ruleSetId } = await createSampleProject(service);
  const path = `/v1/projects/${projectId}`;
  const events = Array.from({ length: count }, (_, index) => ({
    extractor_rule_set_id: ruleSetId,
    idempotency_key: `k${index}`,
    occurred_at: Math.floor(Date.now() / 1_000) - 600,
    raw_json: { customer: 'c', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
  }));
  const body = { source: 'test', events };
  const answer = await call(service, 'POST', `${path}/events/batch-ingest`, { key, body });
  if (answer.status !== 202) throw new Error(`the events were not accepted: ${answer.text}`);
  await waitFor(async () => {
    const status = await call(service, 'GET', `${path}/usage/ingest-status`, { key });
    return status.body.processed === count && status.body.lag_seconds === 0;
  });
}
