import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestTrial, EXTRACTOR, type TestTrial } from './trial.testing.js';

let trial: TestTrial;

beforeAll(async () => {
  trial = await createTestTrial({
    query: () => {
      throw new Error('a test of rules reads no usage');
    },
  });
});
afterAll(() => trial.close());

const event = {
  raw_json: { model: 'large', tokens: 1_000, calls: 3, user: { type: 'user', id: 'u1' } },
  occurred_at: TEST_NOW_S,
};

async function tried(body: object) {
  const answer = await trial.post('/rules/test', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

async function refused(body: object) {
  const answer = await trial.post('/rules/test', body);
  expect(answer.status, answer.text).toBe(400);
  const { code, details } = answer.json();
  return [code, ...details.map(({ path }: { path: string }) => path)];
}

describe('a rules test with totals of counters', () => {
  const counted = (aggregate: object) => ({
    cumulative: { counter: 'tokens', period: 'month', per: 'subject', ...aggregate },
    total_expr: 'tier_graduated(total.quantity, [[1000, "2"], [null, "1"]])',
  });
  const extractorWith = (aggregate: object) => ({
    ...EXTRACTOR,
    charge_item_extractors: ['tokens', 'calls'].map((path) => ({
      ...{ name: path, metric: `llm.${path}`, path, type: 'number' },
      ...counted(aggregate),
    })),
  });
  const stepsOf = (result: { charge_items: { amount: string; cumulative: Record<string, string> }[] }) =>
    result.charge_items.map(({ amount, cumulative }) => [amount, cumulative.before, cumulative.after]);

  it('prices the charge items after them, each by the total that the former ones left', async () => {
    const extractor = extractorWith({});
    expect(stepsOf(await tried({ extractor, event }))).toEqual([
      ['2000', '0', '1000'],
      ['3', '1000', '1003'],
    ]);
    expect(stepsOf(await tried({ extractor, event, totals: { tokens: '999.5' } }))).toEqual([
      ['1000.5', '999.5', '1999.5'],
      ['3', '1999.5', '2002.5'],
    ]);
  });

  it('counts a value once in an event, as production does', async () => {
    const extractor = extractorWith({ aggregate: 'unique', of: 'model' });
    expect(stepsOf(await tried({ extractor, event, totals: { tokens: '7' } }))).toEqual([
      ['2', '7', '8'],
      ['0', '8', '8'],
    ]);
  });

  it('keeps counters of one name in two rule sets apart', async () => {
    const [first, ...others] = extractorWith({}).charge_item_extractors;
    const extractor = {
      ...EXTRACTOR,
      charge_item_extractors: [
        first,
        ...others.map(({ name, metric, path, type }) => ({ name, metric, path, type })),
      ],
    };
    const pricing = { rules: [{ metric: 'llm.calls', ...counted({}) }] };
    expect(stepsOf(await tried({ extractor, pricing, event, totals: { tokens: '10' } }))).toEqual([
      ['1990', '10', '1010'],
      ['6', '10', '13'],
    ]);
  });

  it.each(['-1', 'many', '', '123456789012345678901'])('refuses %s', async (tokens) => {
    expect(await refused({ extractor: extractorWith({}), event, totals: { tokens } })).toEqual([
      'invalid_request',
      'totals.tokens',
    ]);
  });

  it('refuses the total of a counter that no rule has', async () => {
    const request = { extractor: extractorWith({}), event, totals: { tokens: '1', token: '1' } };
    expect(await refused(request)).toEqual(['invalid_request', 'totals.token']);
  });
});
