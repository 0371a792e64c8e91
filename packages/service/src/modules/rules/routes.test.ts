import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  url = `/v1/projects/${api.projectId}/extractor-rule-sets`;
});
afterAll(() => api.close());

const CONFIG = {
  name: 'LLM tokens',
  effective_from: TEST_NOW_S - 100,
  subject: { type_path: 'user.type', default_type: 'user', id_path: '$.user.id', required: true },
  dimensions: [{ name: 'model', path: 'model', type: 'string', required: true }],
  charge_item_extractors: [
    {
      name: 'Input',
      metric: 'llm.input_tokens',
      path: 'usage.prompt_tokens',
      type: 'number',
      unit: 'token',
      currency: 'USD',
      unit_price_expr: "dec('0.000002')",
      amount_expr: 'dec_mul(item.quantity, item.unit_price)',
    },
  ],
};

const create = async (body: object = CONFIG): Promise<string> => {
  const created = await api.call('POST', url, body);
  expect(created.status, created.text).toBe(201);
  return created.json().id;
};
const publish = (id: string) => api.call('POST', `${url}/${id}/publish`);
const archive = (id: string) => api.call('POST', `${url}/${id}/archive`);
const put = (id: string, body: object) => api.call('PUT', `${url}/${id}`, body);

describe('create', () => {
  it('answers version 1 as a draft, echoing what was configured', async () => {
    const created = await api.call('POST', url, CONFIG);
    expect(created.status).toBe(201);
    expect(created.json()).toEqual({
      id: expect.stringMatching(/^ers_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      on_unpriced: 'accept',
      project_id: api.projectId,
      version: 1,
      status: 'draft',
      created_at: TEST_NOW_S,
      published_at: null,
      ...CONFIG,
    });
  });

  it('takes an empty body: in force from its creation, everything else empty', async () => {
    const created = await api.call('POST', url, {});
    expect(created.status).toBe(201);
    expect(created.json()).toMatchObject({
      name: '',
      effective_from: TEST_NOW_S,
      subject: {},
      dimensions: [],
      charge_item_extractors: [],
    });
  });

  it.each([
    ['unknown', { colour: 'red' }, 'colour'],
    ['id', { id: 'ers_1' }, 'id'],
    ['version', { version: 3 }, 'version'],
    ['status', { status: 'published' }, 'status'],
    ['tenant', { tenant_id: 'ten_1' }, 'tenant_id'],
    ['project', { project_id: 'prj_1' }, 'project_id'],
    ['created_at', { created_at: 1 }, 'created_at'],
    ['published_at', { published_at: 1 }, 'published_at'],
    ['prototype', JSON.parse('{"__proto__": {}}'), '__proto__'],
    ['in the subject', { subject: { id: 'x' } }, 'subject.id'],
    ['in a dimension', { dimensions: [{ name: 'a', path: 'a', type: 'string', id: 1 }] }, 'dimensions[0].id'],
    [
      'in an extractor',
      { charge_item_extractors: [{ metric: 'm', path: 'a', type: 'number', version: 1 }] },
      'charge_item_extractors[0].version',
    ],
  ])('refuses a field that is unknown or managed by the system: %s', async (_, body, path) => {
    const refused = await api.call('POST', url, JSON.stringify(body));
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });

  it.each([
    ['a name that is no text', { name: 5 }, 'name'],
    ['a time in milliseconds', { effective_from: TEST_NOW_S * 1000 }, 'effective_from'],
    ['a fraction of a second', { effective_from: 1.5 }, 'effective_from'],
    ['a dimension without a path', { dimensions: [{ name: 'a', type: 'string' }] }, 'dimensions[0].path'],
    ['an unknown type', { dimensions: [{ name: 'a', path: 'a', type: 'date' }] }, 'dimensions[0].type'],
    ['a template that does not exist', { template_id: 'nope' }, 'template_id'],
    [
      'a path that selects many nodes',
      { dimensions: [{ name: 'a', path: '$.a[*]', type: 'string' }] },
      'dimensions[0].path',
    ],
    [
      'an expression that does not compile',
      {
        charge_item_extractors: [
          { metric: 'a', path: 'a', type: 'number' },
          { metric: 'b', path: 'b', type: 'number', amount_expr: 'item.quantity +' },
        ],
      },
      'charge_item_extractors[1].amount_expr',
    ],
    [
      'an expression of another type',
      { charge_item_extractors: [{ metric: 'a', path: 'a', type: 'number', amount_expr: "'a'" }] },
      'charge_item_extractors[0].amount_expr',
    ],
    [
      'two dimensions of one name',
      {
        dimensions: [
          { name: 'a', path: 'a', type: 'string' },
          { name: 'a', path: 'b', type: 'string' },
        ],
      },
      'dimensions[1].name',
    ],
  ])('refuses %s, naming the place', async (_, body, path) => {
    const refused = await api.call('POST', url, body);
    expect(refused.status).toBe(400);
    expect(refused.json().code).toBe('invalid_request');
    expect(refused.json().details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it('refuses a body that is no object', async () => {
    for (const body of ['[]', 'null', '5', '{']) {
      expect((await api.call('POST', url, body)).status, body).toBe(400);
    }
  });
});

describe('update', () => {
  it('replaces the draft, which stays the same version', async () => {
    const id = await create();
    api.clock.advanceMs(5_000);
    const updated = await put(id, { name: 'New' });
    expect(updated.status).toBe(200);
    expect(updated.json()).toMatchObject({ id, version: 1, status: 'draft', name: 'New', dimensions: [] });
    expect(updated.json().effective_from).toBe(updated.json().created_at);
  });

  it('opens the next version while the published one stays as it is', async () => {
    const id = await create();
    await publish(id);
    api.clock.advanceMs(5_000);
    const opened = (await put(id, { name: 'Second' })).json();
    expect(opened).toMatchObject({ id, version: 2, status: 'draft', name: 'Second', published_at: null });
    expect((await put(id, { name: 'Better' })).json()).toMatchObject({ version: 2, name: 'Better' });
    const first = await api.call('GET', `${url}/${id}?version=1`);
    expect(first.json()).toMatchObject({ version: 1, status: 'published', ...CONFIG });
  });

  it('takes its own answer back', async () => {
    const id = await create({});
    const { name, effective_from, subject, dimensions, charge_item_extractors } = (
      await api.call('GET', `${url}/${id}`)
    ).json();
    const body = { name, effective_from, subject, dimensions, charge_item_extractors };
    expect((await put(id, body)).json()).toMatchObject(body);
  });

  it('takes the answer of an expanded template back, as the same version', async () => {
    const dimensions = [{ name: 'region', path: 'region', type: 'string' }];
    const created = (await api.call('POST', url, { template_id: 'http_requests', dimensions })).json();
    expect(created).toMatchObject({ template_id: 'http_requests', dimensions });
    expect(created.charge_item_extractors).not.toEqual([]);
    const { id, tenant_id, project_id, version, status, created_at, published_at, ...body } = created;
    expect((await put(id, body)).json()).toEqual(created);
    expect((await put(id, {})).json()).not.toHaveProperty('template_id');
  });

  it('refuses what create refuses', async () => {
    const id = await create();
    expect((await put(id, { version: 2 })).status).toBe(400);
    expect((await put(id, { template_id: 'x' })).status).toBe(400);
    expect((await api.call('PUT', `${url}/${id}`)).status).toBe(400);
  });

  it('refuses an archived one and an unknown one', async () => {
    const id = await create();
    await archive(id);
    const refused = await put(id, {});
    expect([refused.status, refused.json().code]).toEqual([409, 'rule_set_archived']);
    const absent = await put('ers_none', {});
    expect([absent.status, absent.json().code]).toEqual([404, 'rule_set_not_found']);
  });
});

describe('publish', () => {
  it('returns the published version', async () => {
    const id = await create();
    const published = await publish(id);
    expect(published.status).toBe(200);
    const at = api.clock.nowMs() / 1000;
    expect(published.json()).toMatchObject({ id, version: 1, status: 'published', published_at: at });
  });

  it('refuses when there is no draft, when it is archived, and when it does not exist', async () => {
    const id = await create();
    await publish(id);
    const again = await publish(id);
    expect([again.status, again.json().code]).toEqual([409, 'nothing_to_publish']);
    await archive(id);
    const archived = await publish(id);
    expect([archived.status, archived.json().code]).toEqual([409, 'rule_set_archived']);
    const absent = await publish('ers_none');
    expect([absent.status, absent.json().code]).toEqual([404, 'rule_set_not_found']);
  });

  it('publishes one version once, however many ask at a time', async () => {
    const id = await create();
    const answers = await Promise.all(Array.from({ length: 6 }, () => publish(id)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    await Promise.all([put(id, { name: 'a' }), put(id, { name: 'b' }), put(id, { name: 'c' })]);
    const versions = (await api.call('GET', `${url}/${id}/versions`)).json();
    expect(versions.total_count).toBe(2);
  });

  it('takes no fields', async () => {
    const id = await create();
    expect((await api.call('POST', `${url}/${id}/publish`, { version: 1 })).status).toBe(400);
    expect((await api.call('POST', `${url}/${id}/publish`, {})).status).toBe(200);
  });
});

describe('archive', () => {
  it('shows every version as archived, and can be repeated', async () => {
    const id = await create();
    await publish(id);
    await put(id, {});
    for (let times = 0; times < 2; times += 1) {
      const archived = await archive(id);
      expect(archived.status).toBe(200);
      expect(archived.json()).toMatchObject({ id, version: 2, status: 'archived' });
    }
    const versions = (await api.call('GET', `${url}/${id}/versions`)).json().versions;
    expect(versions.map((each: { status: string }) => each.status)).toEqual(['archived', 'archived']);
  });

  it('refuses an unknown one, and takes no fields', async () => {
    expect((await archive('ers_none')).status).toBe(404);
    expect((await api.call('POST', `${url}/${await create()}/archive`, { force: true })).status).toBe(400);
  });
});
