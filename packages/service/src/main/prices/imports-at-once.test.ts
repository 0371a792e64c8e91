import { fileURLToPath } from 'node:url';
import type { PricingRuleSet, PricingRuleSetInput } from '@tollgate/contract';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from '../../config.js';
import { importPrices } from './import-prices.js';
import { readPricesImport } from './options.js';

const PRICES = fileURLToPath(new URL('../../../../../tests/samples/model-prices.json', import.meta.url));
const FOUND = 200;
const CREATED = 201;

type Stored = Pick<PricingRuleSet, 'id' | 'name' | 'status' | 'rules'>;

/** The rule sets of a service that has these routes alone. */
let stored: Stored[];
/** Called before a rule set is created. */
let beforeCreate: () => Promise<void>;

beforeEach(() => {
  stored = [];
  beforeCreate = async () => {};
  for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {});
  vi.stubGlobal('fetch', async (url: URL | string, { method, body }: RequestInit) => {
    const archived = /pricing-rule-sets\/(\w+)\/archive$/.exec(String(url))?.[1];
    if (archived !== undefined) {
      stored = stored.map((ruleSet) =>
        ruleSet.id === archived ? { ...ruleSet, status: 'archived' } : ruleSet,
      );
      return Response.json({}, { status: FOUND });
    }
    if (method !== 'POST') {
      return Response.json({ pricing_rule_sets: stored, total_count: stored.length }, { status: FOUND });
    }
    await beforeCreate();
    const input = JSON.parse(String(body)) as PricingRuleSetInput;
    const ruleSet = { version: 1, purpose: 'price', ...input, id: `prs_${stored.length}`, status: 'draft' };
    stored.push(ruleSet as unknown as Stored);
    return Response.json(ruleSet, { status: CREATED });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function runImport(): Promise<number> {
  const config = readConfig({ TOLLGATE_API_KEY: 'tg_key' });
  const values = { project: 'prj_1', 'extractor-rule-set': 'ers_1', models: ['gpt-4o'], name: 'Prices' };
  return importPrices(readPricesImport(PRICES, values, config));
}

const inForce = () => stored.filter(({ status }) => status !== 'archived').map(({ id }) => id);

it('keeps the rule sets of one of two first imports of a name that run at once', async () => {
  let isFirst = true;
  beforeCreate = async () => {
    if (!isFirst) return;
    isFirst = false;
    // The other import plans and ends between the plan and the first request of this one.
    expect(await runImport()).toBe(0);
  };
  await expect(runImport()).rejects.toThrow(
    /^Another import created pricing rule sets named "Prices" at the same time \(prs_0\), .* run the command again\.$/,
  );
  expect(stored.map(({ id }) => id)).toEqual(['prs_0', 'prs_1']);
  expect(inForce()).toEqual(['prs_0']);
});

it('keeps the rule sets of an import that is alone', async () => {
  expect(await runImport()).toBe(0);
  expect(inForce()).toEqual(['prs_0']);
});
