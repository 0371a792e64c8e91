import { afterEach, describe, expect, it } from 'vitest';
import { TollgateClient } from './client.js';
import { ApiError, ConnectionError } from './errors.js';
import type { ProjectClient } from './project-client.js';
import { type Answer, type Received, startTestServer, type TestServer } from './testing/server.js';

let server: TestServer | undefined;
afterEach(() => server?.close());

async function clientOf(answer: (request: Received) => Answer | 'destroy' | 'silence', timeoutMs = 5_000) {
  server = await startTestServer(answer);
  const client = new TollgateClient({ baseUrl: `${server.url}/`, apiKey: 'tg_test_key', timeoutMs });
  return { client, project: client.project('prj_1'), received: server.received };
}

describe('requests', () => {
  const calls: [string, string, (project: ProjectClient) => Promise<unknown>][] = [
    ['POST /extractor-rule-sets', '{"name":"a"}', (p) => p.extractorRuleSets.create({ name: 'a' })],
    [
      'GET /extractor-rule-sets?limit=5&status=draft',
      '',
      (p) => p.extractorRuleSets.list({ limit: 5, status: 'draft' }),
    ],
    ['GET /extractor-rule-sets/ers_1?version=2', '', (p) => p.extractorRuleSets.get('ers_1', 2)],
    ['GET /extractor-rule-sets/ers_1', '', (p) => p.extractorRuleSets.get('ers_1')],
    [
      'GET /extractor-rule-sets/ers_1/versions?offset=20',
      '',
      (p) => p.extractorRuleSets.versions('ers_1', { offset: 20 }),
    ],
    ['PUT /extractor-rule-sets/ers_1', '{}', (p) => p.extractorRuleSets.update('ers_1', {})],
    ['POST /extractor-rule-sets/ers_1/publish', '', (p) => p.extractorRuleSets.publish('ers_1')],
    ['POST /extractor-rule-sets/ers_1/archive', '', (p) => p.extractorRuleSets.archive('ers_1')],
    [
      'POST /pricing-rule-sets',
      '{"extractor_rule_set_id":"ers_1"}',
      (p) => p.pricingRuleSets.create({ extractor_rule_set_id: 'ers_1' }),
    ],
    [
      'GET /pricing-rule-sets?extractor_rule_set_id=ers_1&limit=5',
      '',
      (p) => p.pricingRuleSets.list({ extractor_rule_set_id: 'ers_1', limit: 5 }),
    ],
    ['GET /pricing-rule-sets/prs_1?version=2', '', (p) => p.pricingRuleSets.get('prs_1', 2)],
    [
      'GET /pricing-rule-sets/prs_1/versions?offset=20',
      '',
      (p) => p.pricingRuleSets.versions('prs_1', { offset: 20 }),
    ],
    [
      'PUT /pricing-rule-sets/prs_1',
      '{"extractor_rule_set_id":"ers_1"}',
      (p) => p.pricingRuleSets.update('prs_1', { extractor_rule_set_id: 'ers_1' }),
    ],
    ['POST /pricing-rule-sets/prs_1/publish', '', (p) => p.pricingRuleSets.publish('prs_1')],
    ['POST /pricing-rule-sets/prs_1/archive', '', (p) => p.pricingRuleSets.archive('prs_1')],
    [
      'POST /extractor-rule-sets/ers_1/events/ingest',
      '{"source":"a","occurred_at":1,"raw_json":{}}',
      (p) => p.ingest('ers_1', { source: 'a', occurred_at: 1, raw_json: {} }),
    ],
    ['POST /events/batch-ingest', '{"events":[]}', (p) => p.batchIngest({ events: [] })],
    ['GET /usage/events?subject_id=a+%26%3F', '', (p) => p.usage.events({ subject_id: 'a &?' })],
    [
      'GET /usage/events?metric=a&metric=b&filters=%7B%22m%22%3A%7B%22in%22%3A%5B%22x%22%5D%7D%7D',
      '',
      (p) => p.usage.events({ metric: ['a', 'b'], filters: { m: { in: ['x'] } } }),
    ],
    ['GET /usage/events?metric=a', '', (p) => p.usage.events({ metric: 'a' })],
    ['GET /usage/events/evt_1', '', (p) => p.usage.event('evt_1')],
    ['GET /usage/events/..%2F..%2Fx', '', (p) => p.usage.event('../../x')],
    ['POST /usage/events/evt_1/reprocess', '', (p) => p.usage.reprocessEvent('evt_1')],
    ['POST /usage/events/reprocess', '{"from":1,"to":2}', (p) => p.usage.reprocessEvents({ from: 1, to: 2 })],
    ['GET /usage/ingest-status', '', (p) => p.usage.ingestStatus()],
    ['GET /usage/metrics', '', (p) => p.analysis.metrics()],
    [
      'POST /analysis/query',
      '{"metrics":["a"],"time_range":{"last_seconds":60}}',
      (p) => p.analysis.query({ metrics: ['a'], time_range: { last_seconds: 60 } }),
    ],
  ];

  it.each(calls)('%s', async (expected, body, call) => {
    const { project, received } = await clientOf(() => ({ status: 200, body: { answer: expected } }));
    expect(await call(project)).toEqual({ answer: expected });
    const [request] = received;
    expect(`${request?.method} ${request?.url}`).toBe(expected.replace(' ', ' /v1/projects/prj_1'));
    expect(request?.body).toBe(body);
    expect(request?.headers.authorization).toBe('Bearer tg_test_key');
    expect(request?.headers['content-type']).toBe(body === '' ? undefined : 'application/json');
  });

  it('asks who it is and what it can see', async () => {
    const { client, received } = await clientOf(() => ({ status: 200, body: {} }));
    await client.me();
    await client.projects({ limit: 1 });
    expect(received.map((request) => request.url)).toEqual(['/v1/me', '/v1/projects?limit=1']);
  });

  it('administers tenants', async () => {
    const { client, received } = await clientOf(() => ({ status: 200, body: {} }));
    const tenant = client.tenant('ten_1');
    await client.createTenant({ name: 'Acme' });
    await client.tenants({ offset: 100 });
    await tenant.get();
    await tenant.auditLog({ resource_type: 'project', limit: 5 });
    await tenant.revokeApiKey('key_1');
    await tenant.checkout({ plan_id: 'growth' }, { idempotencyKey: 'buy-1' });
    await tenant.order('ord_1');
    expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /admin/v1/tenants',
      'GET /admin/v1/tenants?offset=100',
      'GET /admin/v1/tenants/ten_1',
      'GET /admin/v1/tenants/ten_1/audit-log?resource_type=project&limit=5',
      'DELETE /admin/v1/tenants/ten_1/api-keys/key_1',
      'POST /admin/v1/tenants/ten_1/payments/provider/checkout-sessions',
      'GET /admin/v1/tenants/ten_1/payments/orders/ord_1',
    ]);
    expect(received[5]?.headers['idempotency-key']).toBe('buy-1');
  });

  it('walks through every page of events', async () => {
    const pages: Record<string, unknown> = {
      '/v1/projects/prj_1/usage/events?status=failed': { events: [1, 2], next_cursor: 'c' },
      '/v1/projects/prj_1/usage/events?status=failed&cursor=c': { events: [], next_cursor: 'd' },
      '/v1/projects/prj_1/usage/events?status=failed&cursor=d': { events: [3], next_cursor: null },
    };
    const { project } = await clientOf(({ url }) => ({ status: 200, body: pages[url] }));
    const events: unknown[] = [];
    for await (const event of project.usage.allEvents({ status: 'failed' })) events.push(event);
    expect(events).toEqual([1, 2, 3]);
  });
});

it.each(['.', '..'])('an id of dots (%s) leads nowhere else', async (id) => {
  const { client, project, received } = await clientOf(() => ({ status: 200, body: {} }));
  expect(() => project.boards.delete(id)).toThrow(TypeError);
  expect(() => client.project(id)).toThrow(TypeError);
  expect(received).toEqual([]);
});

describe('failures', () => {
  it('are ApiErrors with all the answer says', async () => {
    const details = [{ path: 'name', message: 'must be string' }];
    const { project } = await clientOf(() => ({
      status: 400,
      headers: { 'x-request-id': 'req_1' },
      body: { error: 'The request is not valid.', code: 'invalid_request', details },
    }));
    const error = await project.extractorRuleSets.create({}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, code: 'invalid_request', details, requestId: 'req_1' });
    expect(error).toMatchObject({ message: 'The request is not valid.', isTransient: false });
  });

  it('say when to come back', async () => {
    const body = { error: 'full', code: 'ingest_backlog_full' };
    const { client } = await clientOf(() => ({ status: 503, headers: { 'retry-after': '7' }, body }));
    await expect(client.me()).rejects.toMatchObject({ retryAfterS: 7, isTransient: true });
  });

  it('that come from somewhere else than Tollgate are recognised', async () => {
    const { client } = await clientOf(() => ({ status: 502, body: '<html>Bad gateway</html>' }));
    await expect(client.me()).rejects.toMatchObject({
      status: 502,
      code: 'unknown',
      details: [],
      isTransient: true,
    });
  });

  it('of an aborted request are the reason why it was aborted', async () => {
    const { project } = await clientOf(() => 'silence');
    const reason = new Error('the page was left');
    const aborting = new AbortController();
    const calls = [
      project.usage.ingestStatus({ signal: aborting.signal }),
      project.usage.events({}, { signal: aborting.signal }),
      project.boards.list({ signal: aborting.signal }),
      project.usage.exportEvents({ from: 1, to: 2 }, { signal: aborting.signal }).next(),
    ];
    setImmediate(() => aborting.abort(reason));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes).toEqual(calls.map(() => ({ status: 'rejected', reason })));
  });

  it.each([
    ['a cut connection', 'destroy'],
    ['no answer in time', 'silence'],
    ['a page instead of JSON', { status: 200, body: '<html>Log in</html>' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }],
  ] as const)('%s is a ConnectionError', async (_name, answer) => {
    const { client } = await clientOf(() => answer, 300);
    await expect(client.me()).rejects.toBeInstanceOf(ConnectionError);
  });
});
