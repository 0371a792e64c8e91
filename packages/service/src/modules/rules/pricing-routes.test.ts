import { EXPRESSION_BYTES_MAX, PRICING_RULE_SETS_IN_FORCE_MAX, PRICING_RULES_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';

let api: TestApi;
let url: string;
let extractorsUrl: string;
let extractorId: string;

beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  url = `/v1/projects/${api.projectId}/pricing-rule-sets`;
  extractorsUrl = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  extractorId = await makeExtractor();
});
afterAll(() => api.close());
const RULE = {
  name: 'Output of gpt-4o',
  priority: 10,
  metric: 'llm.output_tokens',
  match_expr: 'dimensions.model == "gpt-4o"',
  unit_price_expr: 'dec("0.00001")',
  amount_expr: 'dec_mul(item.quantity, item.unit_price)',
};

async function makeExtractor(): Promise<string> {
  return (await api.call('POST', extractorsUrl, {})).json().id;
}
const post = (body: object) => api.call('POST', url, { extractor_rule_set_id: extractorId, ...body });
async function create(body: object = {}): Promise<string> {
  const created = await post(body);
  expect(created.status, created.text).toBe(201);
  return created.json().id;
}
const put = (id: string, body: object = {}) =>
  api.call('PUT', `${url}/${id}`, { extractor_rule_set_id: extractorId, ...body });
const act = (id: string, action: 'publish' | 'archive') => api.call('POST', `${url}/${id}/${action}`);

describe('create', () => {
  it('answers version 1 as a draft, echoing what was configured', async () => {
    const config = {
      extractor_rule_set_id: extractorId,
      name: 'Prices',
      currency: 'EUR',
      effective_from: TEST_NOW_S - 100,
      rules: [{ ...RULE, pricing_unit: '1000' }],
      aliases: [{ dimension: 'model', pattern: 'gpt-4o-20*', value: 'gpt-4o' }],
    };
    const created = await api.call('POST', url, config);
    expect(created.status).toBe(201);
    const { warnings, ...shown } = created.json();
    expect(warnings.map(({ name }: { name: string }) => name)).toEqual([RULE.metric, 'model']);
    expect(shown).toEqual({
      id: expect.stringMatching(/^prs_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      version: 1,
      status: 'draft',
      created_at: TEST_NOW_S,
      published_at: null,
      purpose: 'price',
      ...config,
    });
    expect((await api.call('GET', `${url}/${shown.id}`)).text).toBe(JSON.stringify(shown));
  });

  it('needs no more than an extractor rule set: USD, from its creation, without rules', async () => {
    api.clock.advanceMs(3_000);
    const created = (await post({})).json();
    const at = api.clock.nowMs() / 1_000;
    expect(created).toMatchObject({
      name: '',
      currency: 'USD',
      effective_from: at,
      created_at: at,
      rules: [],
    });
  });

  it('sorts rules by priority; 0 is the default, and those of equal priority keep their order', async () => {
    const rules = [
      { name: 'e', priority: 2_147_483_647 },
      { name: 'b' },
      { name: 'c', priority: 0 },
      { name: 'a', priority: -2_147_483_648 },
      { name: 'd', priority: 0 },
    ].map((fields) => ({ metric: 'llm.tokens', unit_price_expr: 'dec(1)', ...fields }));
    const stored = (await post({ rules })).json().rules;
    expect(stored.map(({ name }: { name: string }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(stored[1]).toEqual(rules[1]);
  });

  it.each([
    ['unknown', { colour: 'red' }, 'colour'],
    ['id', { id: 'prs_1' }, 'id'],
    ['version', { version: 3 }, 'version'],
    ['status', { status: 'published' }, 'status'],
    ['tenant', { tenant_id: 'ten_1' }, 'tenant_id'],
    ['project', { project_id: 'prj_1' }, 'project_id'],
    ['created_at', { created_at: 1 }, 'created_at'],
    ['published_at', { published_at: 1 }, 'published_at'],
    ['of an extractor rule set', { dimensions: [] }, 'dimensions'],
    ['template', { template_id: 'openai_responses' }, 'template_id'],
    ['prototype', JSON.parse('{"__proto__": {}}'), '__proto__'],
    ['id of a rule', { rules: [{ ...RULE, id: 'rule_1' }] }, 'rules[0].id'],
    ['unknown in a rule', { rules: [RULE, { ...RULE, unit_price: '1' }] }, 'rules[1].unit_price'],
    ['currency in a rule', { rules: [{ ...RULE, currency: 'USD' }] }, 'rules[0].currency'],
    ['version of a rule', { rules: [{ ...RULE, version: 1 }] }, 'rules[0].version'],
  ])('refuses a field that is unknown or managed by the system: %s', async (_, body, path) => {
    const text = JSON.stringify({ extractor_rule_set_id: extractorId, ...body });
    const refused = await api.call('POST', url, text);
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });

  const priced = (fields: object) => ({ rules: [{ metric: 'a', unit_price_expr: 'dec(1)', ...fields }] });
  it.each<[string, object, string]>([
    ['no extractor rule set', { extractor_rule_set_id: undefined }, 'extractor_rule_set_id'],
    ['null for it', { extractor_rule_set_id: null }, 'extractor_rule_set_id'],
    ['a name that is no text', { name: 5 }, 'name'],
    ['a name with NUL', { name: 'a\0' }, 'name'],
    ['a currency that is no code', { currency: 'usd' }, 'currency'],
    ['an empty currency', { currency: '' }, 'currency'],
    ['a time in milliseconds', { effective_from: TEST_NOW_S * 1_000 }, 'effective_from'],
    ['a fraction of a second', { effective_from: 1.5 }, 'effective_from'],
    ['rules that are no list', { rules: {} }, 'rules'],
    ['more rules than there may be', { rules: new Array(PRICING_RULES_MAX + 1).fill(RULE) }, 'rules'],
    ['a rule without a metric', { rules: [{ unit_price_expr: 'dec(1)' }] }, 'rules[0].metric'],
    ['a metric with capitals', priced({ metric: 'LLM' }), 'rules[0].metric'],
    ['a metric that is too long', priced({ metric: 'a'.repeat(129) }), 'rules[0].metric'],
    ['an empty name of a rule', priced({ name: '' }), 'rules[0].name'],
    ['a fraction as priority', priced({ priority: 1.5 }), 'rules[0].priority'],
    ['a text as priority', priced({ priority: '1' }), 'rules[0].priority'],
    ['a priority past 32 bits', priced({ priority: 2_147_483_648 }), 'rules[0].priority'],
    ['a priority below 32 bits', priced({ priority: -2_147_483_649 }), 'rules[0].priority'],
    ['a rule without a price', { rules: [{ metric: 'a', match_expr: 'true' }] }, 'rules[0]'],
    ['an empty expression', priced({ match_expr: '' }), 'rules[0].match_expr'],
    [
      'an expression that is too long',
      priced({ match_expr: `true${' '.repeat(EXPRESSION_BYTES_MAX)}` }),
      'rules[0].match_expr',
    ],
    ['a match that is no bool', priced({ match_expr: 'dec(1)' }), 'rules[0].match_expr'],
    ['a price that is not a decimal', priced({ unit_price_expr: 'true' }), 'rules[0].unit_price_expr'],
    ['an amount that is not a decimal', priced({ amount_expr: '"1"' }), 'rules[0].amount_expr'],
    ['two rules of one name', { rules: [RULE, { ...RULE, metric: 'b' }] }, 'rules[1].name'],
  ])('refuses %s, naming the place', async (_, body, path) => {
    const refused = await post(body);
    expect(refused.status, refused.text).toBe(400);
    expect(refused.json().code).toBe('invalid_request');
    expect(refused.json().details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it('names every place as it was sent, with line and column', async () => {
    const rules = [
      { metric: 'a', priority: 5, unit_price_expr: 'dec(1)', match_expr: 'item.quantity >\n  nothing' },
      { metric: 'b', priority: 1, amount_expr: 'dec(' },
    ];
    const refused = await post({ rules });
    expect(refused.status).toBe(400);
    const [first, second] = refused.json().details;
    expect(first).toEqual({
      path: 'rules[0].match_expr',
      message: expect.stringMatching(/line 2, column 3/),
    });
    expect(second).toEqual({
      path: 'rules[1].amount_expr',
      message: expect.stringMatching(/line 1, column \d/),
    });
    expect(refused.json().error).toContain('rules[0].match_expr');
  });

  it('takes as many rules as there may be', async () => {
    const rules = Array.from({ length: PRICING_RULES_MAX }, (_, index) => ({ ...RULE, name: `${index}` }));
    expect((await post({ rules })).json().rules).toHaveLength(PRICING_RULES_MAX);
    const refused = await post({ rules: [...rules, RULE] });
    expect(refused.json().error).toContain(String(PRICING_RULES_MAX));
  });
});

describe('the extractor rule set', () => {
  it('may be a draft or published; an archived one takes no more prices', async () => {
    const id = await makeExtractor();
    expect((await post({ extractor_rule_set_id: id })).status).toBe(201);
    await api.call('POST', `${extractorsUrl}/${id}/publish`);
    expect((await post({ extractor_rule_set_id: id })).status).toBe(201);
    await api.call('POST', `${extractorsUrl}/${id}/archive`);
    const refused = await post({ extractor_rule_set_id: id });
    expect([refused.status, refused.json().code]).toEqual([409, 'rule_set_archived']);
    expect(refused.json().details).toMatchObject([{ path: 'extractor_rule_set_id' }]);
  });

  it('must be one of the project: another project has none, and a pricing rule set is none', async () => {
    const other = `/v1/projects/${await api.makeProject(await api.makeTenant())}/extractor-rule-sets`;
    const foreign = (await api.call('POST', other, {})).json().id;
    const absent = await post({ extractor_rule_set_id: 'ers_none' });
    expect(absent.status).toBe(400);
    expect(absent.json()).toMatchObject({
      code: 'rule_set_not_found',
      details: [{ path: 'extractor_rule_set_id' }],
    });
    for (const id of [foreign, await create()]) {
      const refused = await post({ extractor_rule_set_id: id });
      expect([refused.status, refused.text]).toEqual([400, absent.text]);
    }
  });

  it('never changes', async () => {
    const id = await create();
    for (const other of [await makeExtractor(), 'ers_none']) {
      const refused = await put(id, { extractor_rule_set_id: other });
      expect([refused.status, refused.json().code]).toEqual([400, 'invalid_request']);
      expect(refused.json().details).toMatchObject([{ path: 'extractor_rule_set_id' }]);
    }
    expect((await put(id, { extractor_rule_set_id: undefined })).status).toBe(400);
  });

  it('can be priced by a bounded number of them, drafts and archived ones not counted', async () => {
    const ofFull = { extractor_rule_set_id: await makeExtractor() };
    const ids: string[] = [];
    while (ids.length <= PRICING_RULE_SETS_IN_FORCE_MAX) ids.push(await create(ofFull));
    // The last ones compete for one place. All at once would wait too long for each other on a busy machine.
    const published = [];
    for (const id of ids.slice(0, -8)) published.push(await act(id, 'publish'));
    published.push(...(await Promise.all(ids.slice(-8).map((id) => act(id, 'publish')))));
    expect(published.filter(({ status }) => status === 200)).toHaveLength(PRICING_RULE_SETS_IN_FORCE_MAX);
    const refused = published.findIndex(({ status }) => status !== 200);
    const code = 'pricing_rule_set_limit_reached';
    const error = expect.stringContaining(`${ofFull.extractor_rule_set_id} has ${ids.length - 1} `);
    expect([published[refused]?.status, published[refused]?.json()]).toMatchObject([409, { error, code }]);

    const [next, other] = ids.filter((_, index) => index !== refused);
    await put(next ?? '', { ...ofFull, rules: [RULE] });
    expect((await act(next ?? '', 'publish')).status).toBe(200);
    await act(other ?? '', 'archive');
    expect((await act(ids[refused] ?? '', 'publish')).status).toBe(200);
  });
});

describe('update', () => {
  it('replaces the draft, sorted, and opens the next version once it is published', async () => {
    const id = await create({ currency: 'EUR', rules: [RULE] });
    const rules = [
      { metric: 'b', priority: 2, amount_expr: 'dec(2)' },
      { metric: 'a', priority: 1, amount_expr: 'dec(1)' },
    ];
    const replaced = (await put(id, { rules })).json();
    expect(replaced).toMatchObject({ id, version: 1, status: 'draft', currency: 'USD' });
    expect(replaced.rules).toEqual([rules[1], rules[0]]);
    expect((await act(id, 'publish')).json()).toMatchObject({ version: 1, status: 'published' });
    expect((await put(id, { name: 'Next' })).json()).toMatchObject({ version: 2, status: 'draft' });
    const first = (await api.call('GET', `${url}/${id}?version=1`)).json();
    expect(first).toMatchObject({ version: 1, status: 'published', rules: replaced.rules });
  });

  it('takes its own answer back', async () => {
    const id = await create({ rules: [RULE, { metric: 'a', priority: -1, amount_expr: 'dec(1)' }] });
    const { extractor_rule_set_id, name, currency, effective_from, rules } = (
      await api.call('GET', `${url}/${id}`)
    ).json();
    const body = { extractor_rule_set_id, name, currency, effective_from, rules };
    expect((await put(id, body)).json()).toMatchObject(body);
  });

  it('refuses what create refuses, an archived one and an unknown one', async () => {
    const id = await create();
    expect((await put(id, { version: 2 })).status).toBe(400);
    expect((await put(id, { rules: [{ metric: 'a' }] })).status).toBe(400);
    await act(id, 'archive');
    const refused = await put(id);
    expect([refused.status, refused.json().code]).toEqual([409, 'rule_set_archived']);
    const absent = await put('prs_none');
    expect([absent.status, absent.json().code]).toEqual([404, 'rule_set_not_found']);
  });
});

describe('publish and archive', () => {
  it('refuse in the same cases as for an extractor rule set', async () => {
    const id = await create();
    expect((await act(id, 'publish')).status).toBe(200);
    const again = await act(id, 'publish');
    expect([again.status, again.json().code]).toEqual([409, 'nothing_to_publish']);
    expect((await act(id, 'archive')).json()).toMatchObject({ version: 1, status: 'archived' });
    expect((await act(id, 'archive')).status).toBe(200);
    const archived = await act(id, 'publish');
    expect([archived.status, archived.json().code]).toEqual([409, 'rule_set_archived']);
    expect((await act('prs_none', 'publish')).status).toBe(404);
    expect((await act('prs_none', 'archive')).status).toBe(404);
  });

  it('go on when the extractor rule set is archived: what it accepted before is still to be priced', async () => {
    const extractor = await makeExtractor();
    const id = await create({ extractor_rule_set_id: extractor });
    await api.call('POST', `${extractorsUrl}/${extractor}/archive`);
    expect((await put(id, { extractor_rule_set_id: extractor, rules: [RULE] })).status).toBe(200);
    expect((await act(id, 'publish')).status).toBe(200);
    expect((await act(id, 'archive')).status).toBe(200);
  });
});
