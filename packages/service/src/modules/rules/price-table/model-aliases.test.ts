import { expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json/json.js';
import { itemsOf, pricingOf, rate } from '../testing.js';
import { convertPriceTable } from './convert-table.js';
import { uniqueAliases } from './model-aliases.js';

const TABLE = `{
  "gemini/gemini-2.5-pro": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 1.25e-06},
  "vertex_ai/claude-x": {"litellm_provider": "vertex_ai-anthropic_models", "mode": "chat", "input_cost_per_token": 3e-06},
  "gpt-5": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1.25e-06},
  "gpt-5-mini": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-07},
  "azure/gpt-5-mini": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 2.75e-07},
  "gateway/openai/gpt-5-mini": {"litellm_provider": "gateway", "mode": "chat", "input_cost_per_token": 5e-07},
  "azure/only": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 1e-06},
  "xai/only": {"litellm_provider": "xai", "mode": "chat", "input_cost_per_token": 2e-06},
  "tiers/max": {"litellm_provider": "tiers", "mode": "chat", "input_cost_per_token": 4e-06},
  "tiers/max-2025-07-28": {"litellm_provider": "tiers", "mode": "chat", "tiered_pricing": [{"input_cost_per_token": 5e-06}]},
  "max-2025-07-28": {"litellm_provider": "tiers", "mode": "chat"},
  "gateway/max-2026-01-01": {"litellm_provider": "gateway", "mode": "chat"},
  "images/large": {"litellm_provider": "images", "mode": "image_generation", "input_cost_per_token": 1e-06},
  "large": {"litellm_provider": "openai", "mode": "image_generation", "input_cost_per_pixel": 1e-06},
  "gpt-4o-2024-08-06": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06}
}`;
const convert = (table: string, names: readonly string[]) =>
  convertPriceTable(parseLossless(table), {
    models: names,
    providers: [],
    promptTokensDimension: 'prompt_size',
  }).models;
const models = convert(TABLE, []);

/** Returns what a thousand tokens of a model cost by these rule sets. */
function amountOf(ruleSets: readonly (typeof models)[], model: string): unknown {
  const extractor = {
    dimensions: [{ name: 'model', path: 'model', type: 'string' as const }],
    charge_item_extractors: [{ metric: 'llm.input_tokens', path: 'n', type: 'number' as const }],
  };
  const pricings = ruleSets.map((imported, at) => {
    const rules = imported.flatMap((each) => each.rules);
    return pricingOf(
      { rules, aliases: uniqueAliases(imported.flatMap(({ aliases }) => aliases)) },
      `prs_${at}`,
    );
  });
  const [item] = itemsOf(rate(extractor, JSON.stringify({ model, n: 1_000 }), {}, pricings));
  return item?.amount;
}

it.each<[string, string]>([
  ['gemini/gemini-2.5-pro', '0.00125'],
  ['gemini-2.5-pro', '0.00125'],
  ['claude-x', '0.003'],
  ['gpt-5-mini', '0.00025'],
  ['gpt-5-mini-2025-08-07', '0.00025'],
  ['gpt-5-2025-08-07', '0.00125'],
  ['openai/gpt-5-mini', '0.00025'],
  ['gateway/openai/gpt-5-mini', '0.0005'],
  ['openai/gpt-5-mini-2025-08-07', '0.00025'],
  ['azure/gpt-5-mini-2025-08-07', '0.000275'],
  ['gpt-4o-2024-08-06', '0.0025'],
  ['gpt-5-mini-20250807', '0.00025'],
  ['claude-x@20250807', '0.003'],
  ['vertex_ai/claude-x@2025-08-07', '0.003'],
  // Another model, which the table does not have.
  ['gpt-5-20b', '0'],
  ['gpt-5-mini-200k', '0'],
  ['gpt-5@latest', '0'],
  ['gpt-5-pro', '0'],
  ['gpt-5-mini-search', '0'],
  // Two providers, two prices.
  ['only', '0'],
  // The table has these models, without a price per token.
  ['tiers/max-2025-07-28', '0'],
  ['max-2025-07-28', '0'],
  ['large', '0'],
  // And these are models with a price.
  ['tiers/max-2025-08-01', '0.004'],
  ['max-2025-07-29', '0.004'],
  ['max-2026-01-01', '0.004'],
  ['images/large', '0.001'],
])('a thousand tokens of %s cost %s', (model, amount) => {
  expect(amountOf([models], model)).toBe(amount);
});

it.each<[string, string]>([
  ['gpt-4o-2024-08-06', '0.0025'],
  ['gpt-4o-2024-11-20', '0.0025'],
  ['openai/gpt-4o-2024-08-06', '0.0025'],
  // Another price, which was not chosen.
  ['gpt-4o-2024-05-13', '0'],
  ['openai/gpt-4o-2024-05-13', '0'],
  // Another provider's models have the prefix of it.
  ['gpt-4o-2025-01-01', '0.0025'],
])('with one chosen model, a thousand tokens of %s cost %s', (model, amount) => {
  const table = `{
    "gpt-4o": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06, "input_cost_per_token_flex": 1e-06},
    "gpt-4o-2024-05-13": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 5e-06},
    "gpt-4o-2024-08-06": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06},
    "azure/gpt-4o-2025-01-01": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 3e-06}
  }`;
  expect(amountOf([convert(table, ['gpt-4o'])], model)).toBe(amount);
});

it.each<[string, string]>([
  ['gpt-4o', '0.0025'],
  ['gpt-4o-2024-05-13', '0.005'],
  ['azure/gpt-4o-2024-05-13', '0.005'],
  ['gpt-4o-2024-08-06', '0.0025'],
])(
  'a thousand tokens of %s cost %s, whether its model has rules in another rule set or not',
  (model, amount) => {
    const azure = convert(
      `{
      "azure/gpt-4o": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 2.5e-06},
      "azure/gpt-4o-2024-05-13": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 5e-06}
    }`,
      [],
    );
    expect(amountOf([azure], model)).toBe(amount);
    expect(amountOf([azure.slice(0, 1), azure.slice(1)], model)).toBe(amount);
  },
);

it('has each pattern of a model once', () => {
  for (const { aliases } of models) expect(uniqueAliases(aliases)).toEqual(aliases);
});
