import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';

let api: TestApi;
let url: string;

beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  url = `/v1/projects/${api.projectId}`;
});
afterAll(() => api.close());

const ask = async (method: 'POST' | 'PUT' | 'GET', path: string, body?: object) =>
  (await api.call(method, `${url}/${path}`, body)).json();
const extractor = (...metrics: string[]) => ({
  charge_item_extractors: metrics.map((metric) => ({ name: metric, metric, path: 'n', type: 'number' })),
});
const rulesFor = (...metrics: string[]) =>
  metrics.map((metric) => ({ name: metric, metric, unit_price_expr: 'dec("1")' }));

describe('a pricing rule set that is saved or published', () => {
  it('is answered with the metrics that its extractor rule set makes no charge items of', async () => {
    const { id: extractor_rule_set_id } = await ask('POST', 'extractor-rule-sets', extractor('in', 'out'));
    await ask('POST', 'extractor-rule-sets', extractor('elsewhere'));
    const rules = rulesFor('in', 'inn', 'out', 'elsewhere');
    const created = await ask('POST', 'pricing-rule-sets', { extractor_rule_set_id, rules });
    const warnings = [
      {
        code: 'metric_not_extracted',
        name: 'inn',
        message: expect.stringMatching(/produces no charge items of the metric `inn`.* Did you mean `in`\?$/),
      },
      expect.objectContaining({ code: 'metric_not_extracted', name: 'elsewhere' }),
    ];
    expect(created.warnings).toEqual(warnings);
    const path = `pricing-rule-sets/${created.id}`;
    expect((await ask('POST', `${path}/publish`)).warnings).toEqual(warnings);
    expect(await ask('GET', path)).not.toHaveProperty('warnings');

    // The metrics of an extractor's draft are known, too, and those of its earlier versions still are.
    await ask('POST', `extractor-rule-sets/${extractor_rule_set_id}/publish`);
    await ask('PUT', `extractor-rule-sets/${extractor_rule_set_id}`, extractor('inn'));
    const body = { extractor_rule_set_id, rules: rulesFor('in', 'inn') };
    expect((await ask('PUT', path, body)).warnings).toEqual([]);
  });

  it('is answered with the dimensions that its extractor rule set does not have', async () => {
    const dimensions = [{ name: 'model', path: 'model', type: 'string' }];
    const body = { ...extractor('in'), dimensions };
    const { id: extractor_rule_set_id } = await ask('POST', 'extractor-rule-sets', body);
    const [rule] = rulesFor('in');
    const rules = [{ ...rule, match_expr: 'dimensions.modle == "x" && dimensions.model != "y"' }];
    const { warnings } = await ask('POST', 'pricing-rule-sets', { extractor_rule_set_id, rules });
    expect(warnings).toEqual([
      {
        code: 'dimension_not_extracted',
        name: 'modle',
        message: expect.stringMatching(/Did you mean `model`\?$/),
      },
    ]);
  });

  it('names no more metrics than an answer has room for', async () => {
    const { id: extractor_rule_set_id } = await ask('POST', 'extractor-rule-sets', {});
    const rules = rulesFor(...Array.from({ length: 25 }, (_, index) => `m${index}`));
    const { warnings } = await ask('POST', 'pricing-rule-sets', { extractor_rule_set_id, rules });
    expect(warnings).toHaveLength(20);
  });
});
