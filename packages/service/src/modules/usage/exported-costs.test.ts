import { afterAll, beforeAll, expect, it } from 'vitest';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  createTestClickHouse,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { EXPORT_TEXTS } from './export-format.js';
import { eventPages } from './export-pages.js';

const AT_S = 1_750_000_000;
const COST = {
  ...{ amount: stored('0.250000000000000001'), currency: 'EUR' },
  ...{ ruleSetId: 'prs_cost', ruleSetVersion: 4, ruleName: '=rule' },
};

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
  await insertUsageRows(store.clickhouse, [
    usageRow({ occurredAt: AT_S, items: [usageItem({ cost: COST }), usageItem()] }),
  ]);
});
afterAll(() => store.drop());

async function exported(format: keyof typeof EXPORT_TEXTS): Promise<string[]> {
  const scope = { ...TEST_SCOPE, excludedDimensions: [] };
  const filter = { from: AT_S, to: AT_S + 1, conditions: [] };
  const lines: string[] = [];
  for await (const page of eventPages(store.clickhouse, scope, filter))
    for (const event of page) lines.push(...EXPORT_TEXTS[format].linesOf(event));
  return lines;
}

it('the cost of a charge item is exported with it', async () => {
  const [line = ''] = await exported('ndjson');
  expect(JSON.parse(line).charge_items).toMatchObject([
    {
      cost: {
        ...{ amount: '0.250000000000000001', currency: 'EUR' },
        ...{ pricing_rule_set_id: 'prs_cost', version: 4, rule: '=rule' },
      },
    },
    { cost: null },
  ]);
});

it('costs are the last columns of CSV', async () => {
  expect(EXPORT_TEXTS.csv.head.trimEnd()).toMatch(
    /,revision,item\.cumulative,item\.cost\.amount,item\.cost\.currency,item\.cost\.pricing_rule_set_id,item\.cost\.version,item\.cost\.rule$/,
  );
  const [first = '', second = ''] = await exported('csv');
  expect(first.trimEnd()).toMatch(/,1,,0\.250000000000000001,EUR,prs_cost,4,'=rule$/);
  expect(second.trimEnd()).toMatch(/,1,{6}$/);
});
