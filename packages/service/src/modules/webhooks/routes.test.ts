import { WEBHOOK_ENDPOINTS_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestWebhooks, EVENT_OF_RULE, type TestWebhooks } from './webhooks.testing.js';

let hooks: TestWebhooks;

beforeAll(async () => {
  hooks = await createTestWebhooks({ allowPrivate: false });
});
afterAll(() => hooks.close());

const URL = 'https://hooks.example.com/tollgate?token=1';
const INPUT = { url: URL, event_types: ['usage_limit.exceeded'], description: 'To the pager' };
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

async function auditOf(id: string) {
  const url = `/admin/v1/tenants/${hooks.tenantId}/audit-log?limit=100`;
  const { entries } = (await hooks.call('GET', url)).json();
  return entries.filter((entry: { resource_id: string }) => entry.resource_id === id).reverse();
}

describe('an endpoint', () => {
  it('is created with a secret that is shown once', async () => {
    const created = await hooks.call('POST', hooks.url, INPUT);
    expect(created.status).toBe(201);
    const { secret, warnings, ...shown } = created.json();
    expect(warnings).toEqual([]);
    expect(secret).toMatch(SECRET);
    expect(shown).toEqual({
      ...INPUT,
      id: expect.stringMatching(/^whe_/),
      tenant_id: hooks.tenantId,
      project_id: hooks.projectId,
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      previous_secret_valid_until: null,
      created_at: TEST_NOW_S,
      updated_at: TEST_NOW_S,
    });
    expect((await hooks.at('GET', shown.id)).json()).toEqual(shown);
    expect((await hooks.call('GET', hooks.url)).json()).toEqual({
      webhook_endpoints: [shown],
      total_count: 1,
      limit: 20,
      offset: 0,
    });
    await hooks.at('DELETE', shown.id);
  });

  it('warns of events that nothing sends, when it is created and when it is replaced', async () => {
    const event_types = [
      'usage_limit.exceeded',
      'usage_limit.exeeded',
      EVENT_OF_RULE,
      'webhook.test',
      'payment.refunded',
    ];
    const created = (await hooks.call('POST', hooks.url, { ...INPUT, event_types })).json();
    expect(created.warnings).toEqual([
      {
        code: 'unknown_event_type',
        name: 'usage_limit.exeeded',
        message:
          'Neither the service nor a limit rule of the project sends the event `usage_limit.exeeded` yet. Check its spelling. ' +
          'Did you mean `usage_limit.exceeded`?',
      },
    ]);
    const replaced = (await hooks.at('PUT', created.id, { ...INPUT, event_types })).json();
    expect(replaced.warnings).toEqual(created.warnings);
    const every = await hooks.at('PUT', created.id, { ...INPUT, event_types: ['*'] });
    expect(every.json().warnings).toEqual([]);
    expect((await hooks.at('GET', created.id)).json()).not.toHaveProperty('warnings');
    await hooks.at('DELETE', created.id);
  });

  it('is replaced as a whole', async () => {
    const { id } = await hooks.makeEndpoint(URL);
    hooks.clock.advanceMs(2_000);
    const body = { url: 'http://other.example/', event_types: ['*'] };
    const answer = await hooks.at('PUT', id, body);
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ ...body, description: null });
    expect(answer.json().updated_at).toBe(answer.json().created_at + 2);
    expect(answer.text).not.toContain('whsec_');
    await hooks.at('DELETE', id);
  });

  it('is deleted for good', async () => {
    const { id } = await hooks.makeEndpoint(URL);
    expect(await hooks.at('DELETE', id)).toMatchObject({ status: 204, text: '' });
    for (const [method, path] of [
      ['GET', id],
      ['DELETE', id],
      ['POST', `${id}/rotate-secret`],
      ['POST', `${id}/test`],
      ['GET', `${id}/deliveries`],
    ] as const) {
      expect((await hooks.at(method, path)).status).toBe(404);
    }
  });

  it('gets a new secret, and keeps the old one for a day', async () => {
    const { id, secret } = await hooks.makeEndpoint(URL);
    const nowS = Math.floor(hooks.clock.nowMs() / 1_000);
    const rotated = await hooks.at('POST', `${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.json()).toMatchObject({
      id,
      secret: expect.stringMatching(SECRET),
      previous_secret_valid_until: nowS + 86_400,
    });
    expect(rotated.json().secret).not.toBe(secret);
    const shown = await hooks.at('GET', id);
    expect(shown.json().previous_secret_valid_until).toBe(nowS + 86_400);
    expect(shown.text).not.toContain('whsec_');
    await hooks.at('DELETE', id);
  });

  it('shows a delivery with the body that is posted', async () => {
    const { id } = await hooks.makeEndpoint(URL);
    const queued = (await hooks.at('POST', `${id}/test`)).json();
    const { payload, ...delivery } = (await hooks.at('GET', `${id}/deliveries/${queued.message_id}`)).json();
    expect(delivery).toEqual(queued);
    expect(JSON.parse(payload)).toMatchObject({
      type: 'webhook.test',
      data: { webhook_endpoint_id: id },
    });
    await hooks.at('DELETE', id);
  });

  it('leaves every change in the audit log, and no secret', async () => {
    const { id } = await hooks.makeEndpoint(URL);
    await hooks.at('PUT', id, INPUT);
    await hooks.at('POST', `${id}/rotate-secret`);
    const { message_id: messageId } = (await hooks.at('POST', `${id}/test`)).json();
    await hooks.at('POST', `${id}/deliveries/${messageId}/redeliver`);
    await hooks.at('DELETE', id);
    const entries = await auditOf(id);
    expect(
      entries.map(({ action, change }: { action: string; change: unknown }) => [action, change]),
    ).toEqual([
      ['webhook_endpoint.create', { url: URL, event_types: ['*'] }],
      ['webhook_endpoint.update', INPUT],
      ['webhook_endpoint.rotate_secret', null],
      ['webhook_endpoint.test', { message_id: messageId }],
      ['webhook_endpoint.redeliver', { message_id: messageId }],
      ['webhook_endpoint.delete', null],
    ]);
    expect(JSON.stringify(entries)).not.toContain('whsec_');
  });

  it.each([
    [{ url: 'ftp://a.example' }, 'url'],
    [{ url: 'https://user:password@a.example' }, 'url'],
    [{ url: 'https://a.example/#x' }, 'url'],
    [{ url: 'http://127.1/' }, 'url'],
    [{ url: 'http://[::ffff:10.0.0.1]/' }, 'url'],
    [{ url: 'http://localhost:8080/' }, 'url'],
    [{ url: 'https://a.example:0/' }, 'url'],
    [{ url: 'https://hooks.invalid/' }, 'url'],
    [{ url: 'https://intranet/' }, 'url'],
    [{ url: 'https://a..example/' }, 'url'],
    [{ url: `https://${'x'.repeat(64)}.example/` }, 'url'],
    [{ url: `https://a.example/${'x'.repeat(2_048)}` }, 'url'],
    [{ event_types: [] }, 'event_types'],
    [{ event_types: ['*', 'a'] }, 'event_types'],
    [{ event_types: ['a', 'a'] }, 'event_types'],
    [{ event_types: [''] }, 'event_types[0]'],
    [{ event_types: ['a b'] }, 'event_types[0]'],
    [{ event_types: ['a*'] }, 'event_types[0]'],
    [{ event_types: Array.from({ length: 51 }, (_, n) => `a${n}`) }, 'event_types'],
    [{ event_types: '*' }, 'event_types'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ secret: 'whsec_AAAA' }, 'secret'],
    [{ status: 'disabled' }, 'status'],
  ])('is refused: %j', async (change, path) => {
    const answer = await hooks.call('POST', hooks.url, { ...INPUT, ...change });
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    expect(answer.json().details[0].path).toBe(path);
  });

  it.each([
    ['ftp://a.example/', 'begins with https:// or http://'],
    ['https://1.2.3.4.5/', 'with a host'],
    ['https://a.example:70000/', 'port from 1 to 65535'],
  ])('says what is wrong with %s', async (url, problem) => {
    const { error } = (await hooks.call('POST', hooks.url, { ...INPUT, url })).json();
    expect(error).toContain(problem);
  });

  it('is one of a few: so many and no more, however many are made at once', async () => {
    const project = await hooks.makeProject(hooks.tenantId);
    const url = `/v1/projects/${project}/webhook-endpoints`;
    const answers = await Promise.all(
      Array.from({ length: WEBHOOK_ENDPOINTS_MAX + 3 }, () => hooks.call('POST', url, INPUT)),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map((answer) => [answer.status, answer.json().code])).toEqual(
      Array(3).fill([409, 'webhook_endpoint_limit_reached']),
    );
    const { webhook_endpoints: page, total_count: total } = (
      await hooks.call('GET', `${url}?limit=2&offset=1`)
    ).json();
    expect([page.length, total]).toEqual([2, WEBHOOK_ENDPOINTS_MAX]);
    expect(page[0].id > page[1].id).toBe(true);
  });
});

describe('another project', () => {
  it('finds of an endpoint what it finds of an absent one, to the byte', async () => {
    const { id } = await hooks.makeEndpoint(URL);
    const { message_id: messageId } = (await hooks.at('POST', `${id}/test`)).json();
    const foreign = await hooks.makeProject(await hooks.makeTenant());
    const sibling = await hooks.makeProject(hooks.tenantId);
    const operations = (endpoint: string, message: string) =>
      [
        ['GET', endpoint],
        ['PUT', endpoint, INPUT],
        ['DELETE', endpoint],
        ['POST', `${endpoint}/rotate-secret`],
        ['POST', `${endpoint}/test`],
        ['GET', `${endpoint}/deliveries`],
        ['GET', `${endpoint}/deliveries/${message}`],
        ['POST', `${endpoint}/deliveries/${message}/redeliver`],
      ] as const;
    for (const project of [foreign, sibling]) {
      const ask = ([method, path, body]: ReturnType<typeof operations>[number]) =>
        hooks.call(method, `/v1/projects/${project}/webhook-endpoints/${path}`, body);
      const absent = operations('whe_absent', 'msg_absent');
      for (const [index, operation] of operations(id, messageId).entries()) {
        const answer = await ask(operation);
        const expected = await ask(absent[index] as typeof operation);
        expect([operation, answer.status, answer.text]).toEqual([operation, 404, expected.text]);
      }
      expect((await hooks.call('GET', `/v1/projects/${project}/webhook-endpoints`)).json().total_count).toBe(
        0,
      );
    }
    expect((await hooks.at('GET', id)).json()).toMatchObject({ url: URL, previous_secret_valid_until: null });
    expect(await hooks.deliveries(id)).toHaveLength(1);
    await hooks.at('DELETE', id);
  });

  it('needs permissions of its own for reading and writing', async () => {
    const reader = await hooks.makeKey(hooks.tenantId, ['webhooks:read']);
    const writer = await hooks.makeKey(hooks.tenantId, ['webhooks:write']);
    const other = await hooks.makeKey(hooks.tenantId, ['usage_control:write']);
    const statuses = async (key: string) => [
      (await hooks.call('GET', hooks.url, undefined, key)).status,
      (await hooks.call('POST', hooks.url, INPUT, key)).status,
    ];
    expect(await statuses(reader)).toEqual([200, 403]);
    expect(await statuses(writer)).toEqual([200, 201]);
    expect(await statuses(other)).toEqual([403, 403]);
  });
});
