import { RULE_SET_CHANGES_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';

let api: TestApi;
let extractorsUrl: string;
let pricingsUrl: string;

beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  extractorsUrl = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  pricingsUrl = `/v1/projects/${api.projectId}/pricing-rule-sets`;
});
afterAll(() => api.close());

async function done(method: 'POST' | 'PUT', url: string, body?: object) {
  const answer = await api.call(method, url, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json();
}

async function logOf(id: string): Promise<{ action: string; change: Record<string, unknown> }[]> {
  const { rows } = await api.postgres.pool.query(
    'select action, change, actor, project_id from audit_log where resource_id = $1 order by id',
    [id],
  );
  return rows.map(({ actor, project_id, ...entry }) => {
    expect([actor, project_id]).toEqual(['service', api.projectId]);
    return entry;
  });
}

const rule = (unit_price_expr: string, fields: object = {}) => ({
  metric: 'llm.tokens',
  unit_price_expr,
  ...fields,
});

describe('the audit log', () => {
  it('records each change once, with the version it made; what changes nothing leaves no trace', async () => {
    const { id } = await done('POST', extractorsUrl, { name: 'audited', effective_from: TEST_NOW_S });
    await done('POST', `${extractorsUrl}/${id}/publish`);
    expect((await api.call('POST', `${extractorsUrl}/${id}/publish`)).status).toBe(409);
    await done('PUT', `${extractorsUrl}/${id}`, { name: 'next', effective_from: TEST_NOW_S });
    await done('POST', `${extractorsUrl}/${id}/archive`);
    await done('POST', `${extractorsUrl}/${id}/archive`);
    expect((await api.call('PUT', `${extractorsUrl}/${id}`, {})).status).toBe(409);
    expect(await logOf(id)).toEqual([
      {
        action: 'extractor_rule_set.create',
        change: { version: 1, name: 'audited', effective_from: TEST_NOW_S },
      },
      {
        action: 'extractor_rule_set.publish',
        change: { version: 1, previous_version: null, changes: null, changes_omitted: 0 },
      },
      {
        action: 'extractor_rule_set.update',
        change: { version: 2, name: 'next', effective_from: TEST_NOW_S },
      },
      {
        action: 'extractor_rule_set.archive',
        change: { version: 2, published_version: 1, pricing_rule_set_ids: [] },
      },
    ]);
  });

  it('shows the prices that a published version changed, and those that its archiving ended', async () => {
    const { id: extractorId } = await done('POST', extractorsUrl, {});
    const bound = { extractor_rule_set_id: extractorId, effective_from: TEST_NOW_S };
    const { id } = await done('POST', pricingsUrl, { ...bound, rules: [rule('dec("0.1")')] });
    await done('POST', `${pricingsUrl}/${id}/publish`);
    await done('PUT', `${pricingsUrl}/${id}`, { ...bound, currency: 'EUR', rules: [] });
    await done('PUT', `${pricingsUrl}/${id}`, {
      ...bound,
      currency: 'EUR',
      rules: [rule('dec("0.2")'), rule('dec(3)', { name: 'first', priority: -1 })],
    });
    await done('POST', `${pricingsUrl}/${id}/publish`);
    await done('POST', `${pricingsUrl}/${id}/archive`);
    const log = await logOf(id);
    expect(log.map(({ action }) => action)).toEqual([
      'pricing_rule_set.create',
      'pricing_rule_set.publish',
      'pricing_rule_set.update',
      'pricing_rule_set.update',
      'pricing_rule_set.publish',
      'pricing_rule_set.archive',
    ]);
    expect(log.at(-2)?.change).toEqual({
      version: 2,
      previous_version: 1,
      changes: [
        { path: 'currency', change: 'changed', before: 'USD', after: 'EUR' },
        {
          path: 'rules[first]',
          change: 'added',
          after: rule('dec(3)', { name: 'first', priority: -1 }),
          position: 0,
        },
        {
          path: 'rules[llm.tokens].unit_price_expr',
          change: 'changed',
          before: 'dec("0.1")',
          after: 'dec("0.2")',
        },
      ],
      changes_omitted: 0,
    });
    expect(log.at(-1)?.change).toEqual({
      version: 2,
      published_version: 2,
      extractor_rule_set_id: extractorId,
    });
  });

  it('names the prices that were bound to an archived extractor, but for those that had ended', async () => {
    const { id: extractorId } = await done('POST', extractorsUrl, {});
    const bound = { extractor_rule_set_id: extractorId };
    const ended = await done('POST', pricingsUrl, bound);
    api.clock.advanceMs(10);
    const first = await done('POST', pricingsUrl, bound);
    api.clock.advanceMs(10);
    const second = await done('POST', pricingsUrl, bound);
    await done('POST', pricingsUrl, bound);
    for (const { id } of [ended, second, first]) await done('POST', `${pricingsUrl}/${id}/publish`);
    await done('POST', `${pricingsUrl}/${ended.id}/archive`);
    await done('POST', `${extractorsUrl}/${extractorId}/archive`);
    expect((await logOf(extractorId)).at(-1)?.change).toEqual({
      version: 1,
      published_version: null,
      pricing_rule_set_ids: [first.id, second.id],
    });
  });

  it('stays bounded, and says how much it leaves out', async () => {
    const { id: extractor_rule_set_id } = await done('POST', extractorsUrl, {});
    const rules = (price: string) =>
      Array.from({ length: RULE_SET_CHANGES_MAX + 20 }, (_, index) => rule(price, { name: `r${index}` }));
    const body = { extractor_rule_set_id, effective_from: TEST_NOW_S };
    const { id } = await done('POST', pricingsUrl, { ...body, rules: rules('dec(1)') });
    await done('POST', `${pricingsUrl}/${id}/publish`);
    await done('PUT', `${pricingsUrl}/${id}`, { ...body, rules: rules('dec(2)') });
    await done('POST', `${pricingsUrl}/${id}/publish`);
    const { changes, changes_omitted } = (await logOf(id)).at(-1)?.change ?? {};
    expect([(changes as object[]).length, changes_omitted]).toEqual([RULE_SET_CHANGES_MAX, 20]);
  });

  it('names the key that was used', async () => {
    const key = await api.makeKey(api.tenantId, ['rules:write']);
    const { id } = (await api.call('POST', extractorsUrl, {}, key)).json();
    const { rows } = await api.postgres.pool.query('select actor from audit_log where resource_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ actor: expect.stringMatching(/^key_/) }]);
  });
});

describe('the versions of a rule set', () => {
  it('show what each changed, across pages too', async () => {
    const { id } = await done('POST', extractorsUrl, { name: 'a', effective_from: 1 });
    for (const body of [
      { name: 'b', effective_from: 1, dimensions: [{ name: 'model', path: 'model', type: 'string' }] },
      { name: 'b', effective_from: 5, template_id: 'http_requests', dimensions: [] },
    ]) {
      await done('POST', `${extractorsUrl}/${id}/publish`);
      await done('PUT', `${extractorsUrl}/${id}`, body);
    }
    const page = async (query: string) =>
      (await api.call('GET', `${extractorsUrl}/${id}/versions${query}`)).json().versions;
    const versions = await page('');
    expect(versions.map((each: { version: number }) => each.version)).toEqual([3, 2, 1]);
    expect(versions[2]).toMatchObject({ changes: null, changes_omitted: 0 });
    expect(versions[1].changes).toEqual([
      { path: 'name', change: 'changed', before: 'a', after: 'b' },
      {
        path: 'dimensions[model]',
        change: 'added',
        after: { name: 'model', path: 'model', type: 'string' },
        position: 0,
      },
    ]);
    expect(versions[0].changes).toEqual(
      expect.arrayContaining([
        { path: 'template_id', change: 'changed', before: null, after: 'http_requests' },
        { path: 'effective_from', change: 'changed', before: 1, after: 5 },
        expect.objectContaining({ path: 'dimensions[model]', change: 'removed' }),
        expect.objectContaining({
          path: expect.stringMatching(/^charge_item_extractors\[/),
          change: 'added',
        }),
      ]),
    );
    expect(await page('?limit=1')).toEqual([versions[0]]);
    expect(await page('?limit=1&offset=1')).toEqual([versions[1]]);
    expect(await page('?limit=1&offset=2')).toEqual([versions[2]]);
  });

  it('show a change of on_unpriced, which is "accept" where it was never said', async () => {
    const { id } = await done('POST', extractorsUrl, { name: 'a', effective_from: 1 });
    for (const on_unpriced of ['accept', 'fail'])
      for (const [method, path, body] of [
        ['POST', '/publish', undefined],
        ['PUT', '', { name: `a ${on_unpriced}`, effective_from: 1, on_unpriced }],
      ] as const)
        await done(method, `${extractorsUrl}/${id}${path}`, body);
    const { versions } = (await api.call('GET', `${extractorsUrl}/${id}/versions`)).json();
    const paths = versions.map(({ changes }: { changes: { path: string }[] | null }) =>
      changes?.filter(({ path }) => path !== 'name'),
    );
    expect(paths).toEqual([
      [{ path: 'on_unpriced', change: 'changed', before: 'accept', after: 'fail' }],
      [],
      undefined,
    ]);
  });
});
