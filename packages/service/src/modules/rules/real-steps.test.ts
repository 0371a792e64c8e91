import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseLossless } from '../../kernel/json/json.js';
import { EVENT_STEPS_MAX, EventSteps } from './expression/index.js';
import { convertPriceTable } from './price-table/index.js';
import { expandTemplate } from './templates/index.js';
import { itemsOf, pricingOf, rate } from './testing.js';

/** The bound must be this multiple of the steps of the largest real rule sets. */
const MARGIN_MIN = 4;
const RULES_MAX = 500;
const EXTRACTORS_MAX = 100;
const DIMENSIONS_MAX = 32;

const SAMPLE_TABLE = new URL('../../../../../tests/samples/model-prices.json', import.meta.url);

/** Conditions as real rules have them, by what they compare; the 500 conditions of a rule set differ. */
const CONDITIONS: Readonly<Record<string, (rule: number) => string>> = {
  'a model': (rule) => `dimensions.d0 == "model-${rule}"`,
  'the beginning of a model': (rule) => `dimensions.d0.startsWith("model-${rule}-")`,
  'a beginning and a quantity': (rule) =>
    `dimensions.d0.startsWith("model-${rule}-") && item.quantity > dec("1000")`,
  'a list of models': (rule) => `dimensions.d0 in ["model-${rule}", "model-${rule}-a", "model-${rule}-b"]`,
  'either of two dimensions': (rule) =>
    `has(dimensions.d1) && dimensions.d1 == "x${rule}" || dimensions.d2 == "y${rule}"`,
  'several beginnings': (rule) =>
    `["model-${rule}", "m-${rule}", "n-${rule}"].exists(p, dimensions.d0.startsWith(p))`,
};

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Rates an event that must succeed.
 *
 * @returns the steps it took, and how many charge items it has
 */
function stepsOf(...args: Parameters<typeof rate>): { readonly steps: number; readonly items: number } {
  const take = vi.spyOn(EventSteps.prototype, 'take');
  const items = itemsOf(rate(...args)).length;
  const steps = take.mock.calls.reduce((sum, [count]) => sum + count, 0);
  take.mockRestore();
  return { steps, items };
}

/** Prices one item of each metric by 500 rules, of which the last one of a metric matches. */
function stepsOfLargest(condition: (rule: number) => string, metrics: number) {
  const names = Array.from({ length: DIMENSIONS_MAX }, (_, index) => `d${index}`);
  const metricNames = Array.from({ length: metrics }, (_, index) => `metric${index}`);
  const rules = Array.from({ length: RULES_MAX }, (_, rule) => ({
    metric: `metric${rule % metrics}`,
    match_expr: rule < RULES_MAX - metrics ? condition(rule) : 'true',
    unit_price_expr: 'dec("1")',
  }));
  const config = {
    dimensions: names.map((name) => ({ name, path: name, type: 'string' as const })),
    charge_item_extractors: metricNames.map((name) => ({
      name,
      metric: name,
      path: 'n',
      type: 'number' as const,
    })),
  };
  const event = JSON.stringify({ n: 1500, ...Object.fromEntries(names.map((name) => [name, `of ${name}`])) });
  return stepsOf(config, event, {}, [pricingOf({ rules })]);
}

describe('the largest real rule sets take a fourth of the steps of an event at most', () => {
  it.each(Object.entries(CONDITIONS))('500 rules that ask for %s', (_, condition) => {
    for (const metrics of [1, EXTRACTORS_MAX]) {
      const { steps, items } = stepsOfLargest(condition, metrics);
      expect(items).toBe(metrics);
      expect(steps).toBeGreaterThanOrEqual(items);
      expect(steps * MARGIN_MIN).toBeLessThanOrEqual(EVENT_STEPS_MAX);
    }
  });

  it('imported prices with their aliases, for a dated model behind a prefix', () => {
    const table = parseLossless(readFileSync(SAMPLE_TABLE, 'utf8'));
    const { models } = convertPriceTable(table, {
      models: [],
      providers: [],
      promptTokensDimension: 'prompt_size',
    });
    const rules = models.flatMap((model) => [...model.rules]);
    const aliases = models.flatMap((model) => [...model.aliases]);
    const pricing = pricingOf({ rules, aliases });
    const event = JSON.stringify({
      model: 'openai/gpt-4o-2024-08-06',
      user: 'u',
      usage: { prompt_tokens: 2006, completion_tokens: 300 },
    });
    const config = expandTemplate({ template_id: 'openai_chat_completions' });
    const { steps, items } = stepsOf(config, event, {}, [pricing]);
    expect(items).toBeGreaterThan(0);
    expect(steps).toBeGreaterThanOrEqual(items);
    expect(steps * MARGIN_MIN).toBeLessThanOrEqual(EVENT_STEPS_MAX);
  });
});
