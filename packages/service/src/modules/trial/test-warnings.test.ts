import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestTrial, EXTRACTOR, type TestTrial } from './trial.testing.js';

let trial: TestTrial;
let extractorId: string;
beforeAll(async () => {
  trial = await createTestTrial({
    query: () => {
      throw new Error('a test of rules reads no usage');
    },
  });
  extractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
});
afterAll(() => trial.close());

const EVENT = { raw_json: { model: 'large', tokens: 1_000, calls: 3, user: { type: 'user', id: 'u1' } } };

/** The code, the name and the proposal of each warning about a test. */
async function warnings(body: object) {
  const answer = await trial.post('/rules/test', { event: EVENT, ...body });
  expect(answer.status, answer.text).toBe(200);
  return answer
    .json()
    .warnings.map(({ code, name, message }: Record<string, string>) => [
      code,
      name,
      /Did you mean `(.*)`\?$/.exec(message ?? '')?.[1],
    ]);
}

const rule = (change: object) => ({ metric: 'llm.tokens', unit_price_expr: 'dec("1")', ...change });
const priced = (...rules: object[]) => warnings({ extractor: EXTRACTOR, pricing: { rules } });

describe('a test of rules warns', () => {
  it('of dimensions in expressions and aliases that the extractor does not have', async () => {
    expect(
      await priced(
        rule({ name: 'a', match_expr: 'dimensions.modle == "large" && dimensions["model"] != "x"' }),
        rule({ name: 'b', unit_price_expr: 'dimensions["region"] == "eu" ? dec("1") : dec("2")' }),
      ),
    ).toEqual([
      ['dimension_not_extracted', 'modle', 'model'],
      ['dimension_not_extracted', 'region', undefined],
    ]);
    const aliases = [{ dimension: 'modell', pattern: 'l*', value: 'large' }];
    expect(await warnings({ extractor: EXTRACTOR, pricing: { rules: [], aliases } })).toEqual([
      ['dimension_not_extracted', 'modell', 'model'],
    ]);
  });

  it('of dimensions of counters', async () => {
    const cumulative = { counter: 'c', period: 'month', per: 'subject', by: ['modle'] };
    const rules = [{ metric: 'llm.tokens', cumulative, total_expr: 'total.quantity * dec("1")' }];
    expect(await priced(...rules)).toEqual([['dimension_not_extracted', 'modle', 'model']]);
  });

  it('of metrics that the extractor does not have', async () => {
    expect(await priced(rule({ metric: 'llm.token' }))).toEqual([
      ['metric_not_extracted', 'llm.token', 'llm.tokens'],
    ]);
  });

  it('of dimensions in the prices of the extractor itself', async () => {
    const [first, ...others] = EXTRACTOR.charge_item_extractors;
    const extractor = {
      ...EXTRACTOR,
      charge_item_extractors: [{ ...first, unit_price_expr: 'dec(dimensions.modle)' }, ...others],
    };
    expect(await warnings({ extractor })).toEqual([['dimension_not_extracted', 'modle', 'model']]);
  });

  it('of a path with a field of nearly the same name in its place, and of no other path', async () => {
    const user = { type: 'user', idd: 'u1' };
    const event = { raw_json: { model: 'large', tokns: 1_000, user } };
    expect(await warnings({ extractor: EXTRACTOR, event })).toEqual([
      ['path_not_in_event', 'user.id', 'user.idd'],
      ['path_not_in_event', 'tokens', 'tokns'],
    ]);
    expect(await warnings({ extractor: EXTRACTOR, event: { raw_json: { model: 'large' } } })).toEqual([]);
  });

  it('of nothing in rules that it was not asked to test', async () => {
    const pricing = {
      extractor_rule_set_id: extractorId,
      rules: [rule({ match_expr: 'dimensions.modle == "x"' })],
    };
    const id = await trial.makeRuleSet('pricing', pricing);
    expect(await warnings({ extractor_rule_set_id: extractorId })).toEqual([]);
    expect(await warnings({ extractor_rule_set_id: extractorId, pricing_rule_set_id: id })).toEqual([
      ['dimension_not_extracted', 'modle', 'model'],
    ]);
  });

  it('of at most twenty names', async () => {
    const rules = Array.from({ length: 30 }, (_, at) =>
      rule({ name: `r${at}`, metric: `m${at}`, match_expr: `dimensions.d${at} == "x"` }),
    );
    expect(await priced(...rules)).toHaveLength(20);
  });
});
