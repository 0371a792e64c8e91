import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuide } from '../packages/service/src/testing/guide.js';
import { call } from './support/http.js';
import { type RunningService, startService } from './support/service.js';

const EVENTS_MAX = 5;

let service: RunningService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-plans-'));
  service = await startService({ env: { TOLLGATE_BASELINE_PLAN: 'none' } });
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A request with the service key. */
const operate = (method: string, path: string, body?: object, idempotencyKey?: string) =>
  call(service, method, path, { key: service.serviceKey, body, idempotencyKey });

/** The plan of the guide, with a quota that a test can use up. */
function writeCatalog(): string {
  const [example = ''] = readGuide('plans').blocks('json');
  const catalog = JSON.parse(example) as { plans: { monthly_event_limit: number }[] };
  for (const plan of catalog.plans) plan.monthly_event_limit = EVENTS_MAX;
  const path = join(folder, 'plans.json');
  writeFileSync(path, JSON.stringify(catalog));
  return path;
}

describe('a service without a payment provider', () => {
  it('says so instead of opening a checkout, and in the catalog', async () => {
    const tenant = await operate('POST', '/admin/v1/tenants', { name: 'Buyer' });
    const url = `/admin/v1/tenants/${tenant.body.id}/payments/provider/checkout-sessions`;
    const { status, body } = await operate('POST', url, { plan_id: 'scale' }, 'purchase-1');
    expect([status, body.code]).toEqual([503, 'payments_not_configured']);
    expect((await operate('GET', '/v1/plans')).body).toMatchObject({ payment_provider: null });
    expect(service.output).toContain('Tenants need a plan, but cannot buy one');
  });
});

describe('a service that sells plans', () => {
  it('takes a catalog, no events without a grant, and with one as many as the plan allows', async () => {
    const path = writeCatalog();
    const applied = [
      await service.runCommand(['catalog', 'apply', path]),
      await service.runCommand(['catalog', 'apply', path]),
    ];
    expect(applied.map(({ exitCode, stdout }) => [exitCode, stdout.trim()])).toEqual([
      [0, 'starter: revision 1'],
      [0, 'starter: unchanged'],
    ]);

    const tenant = await operate('POST', '/admin/v1/tenants', { name: 'Acme' });
    const tenantUrl = `/admin/v1/tenants/${tenant.body.id}`;
    const project = await operate('POST', `${tenantUrl}/projects`, { name: 'Chat', kind: 'release' });
    const rulesUrl = `/v1/projects/${project.body.id}/extractor-rule-sets`;
    const rules = await operate('POST', rulesUrl, {});
    await operate('POST', `${rulesUrl}/${rules.body.id}/publish`);
    const event = { source: 'test', occurred_at: Math.floor(Date.now() / 1_000), raw_json: {} };
    const send = () => operate('POST', `${rulesUrl}/${rules.body.id}/events/ingest`, event);
    expect((await send()).body.code).toBe('no_entitlement');

    expect((await operate('POST', `${tenantUrl}/grants`, { plan_id: 'starter' }, 'first')).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 3 * EVENTS_MAX }, send));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(EVENTS_MAX);
    expect(answers.filter(({ body }) => body.code === 'event_quota_exceeded')).toHaveLength(2 * EVENTS_MAX);
    const entitlement = (await operate('GET', `${tenantUrl}/entitlement`)).body;
    expect(entitlement).toMatchObject({ plan_id: 'starter', usage: { events_this_month: EVENTS_MAX } });

    const verified = await service.runCommand(['verify']);
    expect([verified.exitCode, verified.stdout]).toEqual([
      0,
      expect.stringContaining('months of event quotas: 1'),
    ]);
  });
});
