import type { PricingRuleSet } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';

let api: TestApi;
let url: string;
let extractorsUrl: string;
let first: string;
let second: string;
let published: string;

beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  url = `/v1/projects/${api.projectId}/pricing-rule-sets`;
  extractorsUrl = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  first = (await api.call('POST', extractorsUrl, {})).json().id;
  second = (await api.call('POST', extractorsUrl, {})).json().id;
  await make({ name: 'draft', extractor_rule_set_id: first });
  published = await make({ name: 'published', extractor_rule_set_id: first }, 'publish');
  await make({ name: 'other', extractor_rule_set_id: second }, 'publish');
  await make({ name: 'archived', extractor_rule_set_id: second }, 'archive');
});
afterAll(() => api.close());

async function make(body: object, ...steps: string[]): Promise<string> {
  const { id } = (await api.call('POST', url, body)).json();
  for (const step of steps) await api.call('POST', `${url}/${id}/${step}`);
  api.clock.advanceMs(1_000);
  return id;
}

describe('the list of pricing rule sets', () => {
  const all = ['archived archived', 'other published', 'published published', 'draft draft'];
  it.each<[string, () => string, string[]]>([
    ['all, newest first', () => '', all],
    ['those of a status', () => '?status=published', ['other published', 'published published']],
    [
      'those bound to an extractor rule set',
      () => `?extractor_rule_set_id=${first}`,
      ['published published', 'draft draft'],
    ],
    ['those of both', () => `?extractor_rule_set_id=${second}&status=archived`, ['archived archived']],
    ['none of an unknown one', () => '?extractor_rule_set_id=ers_none', []],
  ])('shows %s', async (_, query, expected) => {
    const answer = await api.call('GET', url + query());
    expect(answer.status, answer.text).toBe(200);
    const { pricing_rule_sets: ruleSets, ...page } = answer.json();
    expect(page).toEqual({ total_count: expected.length, limit: 20, offset: 0 });
    expect(ruleSets.map(({ name, status }: PricingRuleSet) => `${name} ${status}`)).toEqual(expected);
  });

  it('pages, and refuses other filters', async () => {
    const page = (await api.call('GET', `${url}?limit=1&offset=3`)).json();
    expect(page).toMatchObject({
      total_count: 4,
      limit: 1,
      offset: 3,
      pricing_rule_sets: [{ name: 'draft' }],
    });
    for (const query of ['?limit=0', '?status=live', '?extractor_rule_set_id=', '?name=draft']) {
      expect((await api.call('GET', url + query)).status, query).toBe(400);
    }
    expect((await api.call('GET', `${extractorsUrl}?extractor_rule_set_id=${first}`)).status).toBe(400);
  });

  it('has no extractor rule sets in it, nor they any pricing', async () => {
    const extractors = (await api.call('GET', extractorsUrl)).json();
    expect(extractors.total_count).toBe(2);
    expect(extractors.extractor_rule_sets.map(({ id }: { id: string }) => id)).toEqual([second, first]);
  });
});

describe('access', () => {
  const routes = [
    ['GET', '', undefined, 'read'],
    ['GET', '/:id', undefined, 'read'],
    ['GET', '/:id/versions', undefined, 'read'],
    ['POST', '', 'body', 'write'],
    ['PUT', '/:id', 'body', 'write'],
    ['POST', '/:id/publish', undefined, 'write'],
    ['POST', '/:id/archive', undefined, 'write'],
  ] as const;
  const bodyOf = (body: 'body' | undefined) =>
    body === undefined ? undefined : { extractor_rule_set_id: first };

  it.each(routes)('of %s %s: 401, 403, 404', async (method, path, body, needed) => {
    const target = url + path.replace(':id', published);
    const stranger = await api.makeKey(await api.makeTenant(), ['tenant:admin']);
    const weak = await api.makeKey(api.tenantId, [needed === 'read' ? 'usage:ingest' : 'rules:read']);
    expect((await api.call(method, target, bodyOf(body), 'nonsense')).status).toBe(401);
    expect((await api.call(method, target, bodyOf(body), weak)).status).toBe(403);
    expect((await api.call(method, target, bodyOf(body), stranger)).status).toBe(404);
  });

  it.each(routes.filter(([, path]) => path !== ''))(
    'of %s %s: one of another project or kind is as absent as an unknown one',
    async (method, path, body) => {
      const at = (listUrl: string, id: string) =>
        api.call(method, listUrl + path.replace(':id', id), bodyOf(body));
      const otherUrl = `/v1/projects/${await api.makeProject(api.tenantId)}/pricing-rule-sets`;
      const absent = await at(url, 'prs_none');
      expect(absent.status).toBe(404);
      for (const answer of [await at(otherUrl, published), await at(url, first)]) {
        expect([answer.status, answer.text]).toEqual([404, absent.text]);
      }
    },
  );

  it('of an extractor rule set is not opened by the id of a pricing rule set', async () => {
    expect((await api.call('GET', `${extractorsUrl}/${published}`)).status).toBe(404);
    expect((await api.call('PUT', `${extractorsUrl}/${published}`, {})).status).toBe(404);
    expect((await api.call('POST', `${extractorsUrl}/${published}/archive`)).status).toBe(404);
  });
});

describe('writes at once', () => {
  it('of extractors and the prices bound to them end, each in a version of its own', async () => {
    const extractor = (await api.call('POST', extractorsUrl, {})).json().id;
    const bound = { extractor_rule_set_id: extractor };
    const pricings = [await make(bound), await make(bound)];
    const before = await revisionOf(extractor);
    const targets = [
      { target: `${extractorsUrl}/${extractor}`, body: {} },
      ...pricings.map((id) => ({ target: `${url}/${id}`, body: bound })),
    ];
    const writes = targets.flatMap(({ target, body }) =>
      Array.from({ length: 4 }, () => [
        api.call('POST', `${target}/publish`),
        api.call('PUT', target, body),
        api.call('POST', url, bound),
      ]),
    );
    const answers = await Promise.all(writes.flat());
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 201, 409]));
    const written = statuses.filter((status) => status !== 409).length;
    expect(await revisionOf(extractor)).toBe(before + written);
    for (const { target } of targets) {
      const { versions } = (await api.call('GET', `${target}/versions?limit=100`)).json();
      const drafts = versions.filter(({ status }: PricingRuleSet) => status === 'draft');
      expect(drafts.length).toBeLessThanOrEqual(1);
    }
  });

  it('of prices notify the caches of their extractor, each of them', async () => {
    const extractor = (await api.call('POST', extractorsUrl, {})).json().id;
    const seen = [await revisionOf(extractor)];
    const note = async () => seen.push(await revisionOf(extractor));
    const body = { extractor_rule_set_id: extractor };
    const { id } = (await api.call('POST', url, body)).json();
    await note();
    await api.call('PUT', `${url}/${id}`, body);
    await note();
    await api.call('POST', `${url}/${id}/publish`);
    await note();
    await api.call('POST', `${url}/${id}/archive`);
    await note();
    expect(seen.map((revision) => revision - (seen[0] ?? 0))).toEqual([0, 1, 2, 3, 4]);
    await api.call('POST', `${url}/${id}/archive`);
    await api.call('POST', `${url}/${id}/publish`);
    expect(await revisionOf(extractor)).toBe(seen.at(-1));
  });

  async function revisionOf(id: string): Promise<number> {
    const { rows } = await api.postgres.pool.query('select revision from rule_sets where id = $1', [id]);
    return rows[0].revision;
  }
});
