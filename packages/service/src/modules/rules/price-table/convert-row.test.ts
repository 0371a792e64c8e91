import type { PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json/json.js';
import { itemsOf, pricingOf, rate } from '../testing.js';
import { type ConvertedRow, convertRow, IMPORTED_PRIORITY, type PriceRow } from './convert-row.js';
import { priceOfOne } from './testing.js';

/** Converts a row as it is written in the file. */
const convert = (json: string, promptTokensDimension = 'prompt_size'): ConvertedRow =>
  convertRow('m', parseLossless(json) as PriceRow, promptTokensDimension);

const pricesOf = ({ rules }: ConvertedRow) =>
  Object.fromEntries(rules.map((rule) => [rule.metric, priceOfOne(rule)]));

it('makes one rule for each metric that a model is priced by', () => {
  const { rules, ...rest } = convert(
    '{"input_cost_per_token": 2.5e-06, "mode": "embedding", "max_tokens": 8192}',
  );
  expect(rules).toEqual<PricingRule[]>([
    {
      name: 'm llm.input_tokens',
      priority: IMPORTED_PRIORITY,
      metric: 'llm.input_tokens',
      match_expr: 'dimensions.model == "m"',
      unit_price_expr: 'dec("2.5")',
      pricing_unit: '1000000',
    },
  ]);
  expect(rest).toEqual({ promptSizes: [], fallbacks: [], leftOut: [], refused: [], rounded: [] });
});

it('maps every price by the token to the metric of the templates', () => {
  const row = `{"mode": "chat", "litellm_provider": "p",
    "input_cost_per_token": 1, "output_cost_per_token": 2, "output_cost_per_reasoning_token": 3,
    "cache_read_input_token_cost": 4, "cache_creation_input_token_cost": 5, "cache_creation_input_token_cost_above_1hr": 6,
    "input_cost_per_audio_token": 7, "output_cost_per_audio_token": 8, "input_cost_per_image_token": 9,
    "output_cost_per_image_token": 10}`;
  expect(pricesOf(convert(row))).toEqual({
    'llm.input_tokens': 'dec("1")',
    'llm.output_tokens': 'dec("2")',
    'llm.reasoning_tokens': 'dec("3")',
    'llm.cached_input_tokens': 'dec("4")',
    'llm.cache_write_tokens': 'dec("5")',
    'llm.cache_write_1h_tokens': 'dec("6")',
    'llm.input_audio_tokens': 'dec("7")',
    'llm.output_audio_tokens': 'dec("8")',
    'llm.input_image_tokens': 'dec("9")',
    'llm.output_image_tokens': 'dec("10")',
  });
  expect(convert(row)).toMatchObject({ fallbacks: [], leftOut: [], refused: [] });
});

describe('a price', () => {
  it.each([
    ['7.5e-08', '0.000000075'],
    ['5.46875e-07', '0.000000546875'],
    ['0.00012', '0.00012'],
    ['1E-6', '0.000001'],
    ['1.0e+1', '10'],
    ['0', '0'],
    ['0.0', '0'],
    ['-0.0', '0'],
    // A double would make 0.123456789012345680 of this.
    ['0.123456789012345678', '0.123456789012345678'],
    ['12345678901234567890', '12345678901234567890'],
    ['3', '3'],
  ])('of %s keeps its digits', (written, price) => {
    const row = convert(`{"mode": "embedding", "input_cost_per_token": ${written}}`);
    expect(row.rules.map(priceOfOne)).toEqual([`dec("${price}")`]);
    expect(row).toMatchObject({ refused: [], rounded: [] });
  });

  it.each([
    ['2.9999900000000002e-06', '2.9999900000000002', []],
    ['1e-19', '0.0000000000001', []],
    ['1.5e-24', '0.000000000000000002', ['input_cost_per_token']],
    ['1e-25', '0', ['input_cost_per_token']],
  ])('of %s is rounded only where a million costs %s, and that is reported', (written, price, rounded) => {
    const row = convert(`{"mode": "embedding", "input_cost_per_token": ${written}}`);
    expect(row.rules).toMatchObject([{ unit_price_expr: `dec("${price}")`, pricing_unit: '1000000' }]);
    expect(row.rounded).toEqual(rounded);
  });

  it.each([
    ['-1e-06', 'is negative'],
    ['"0.000001"', 'is not a number'],
    ['true', 'is not a number'],
    ['[1]', 'is not a number'],
    ['{"text": "1"}', 'is not a number'],
    ['1e999', 'is out of range'],
    ['123456789012345678901', 'has more than 20 integer digits'],
  ])('of %s is refused, and no other stands in for it', (written, reason) => {
    const row = convert(`{"input_cost_per_token": 1, "cache_read_input_token_cost": ${written}}`);
    expect(pricesOf(row)).toEqual({ 'llm.input_tokens': 'dec("1")' });
    expect(row.refused).toEqual([{ key: 'cache_read_input_token_cost', reason }]);
  });

  it('of null is none', () => {
    expect(convert('{"input_cost_per_token": null, "output_cost_per_image": null}')).toMatchObject({
      rules: [],
      refused: [],
      leftOut: [],
    });
  });
});

describe('cached and reasoning tokens without a price of their own', () => {
  it.each(['"chat"', '"responses"', '"completion"', 'null'])(
    'cost what input and output do, in mode %s',
    (mode) => {
      const row = convert(`{"mode": ${mode}, "input_cost_per_token": 1, "output_cost_per_token": 2}`);
      expect(pricesOf(row)).toMatchObject({
        'llm.cached_input_tokens': 'dec("1")',
        'llm.reasoning_tokens': 'dec("2")',
      });
      expect(row.fallbacks.map(({ metric }) => metric)).toEqual([
        'llm.cached_input_tokens',
        'llm.reasoning_tokens',
      ]);
    },
  );

  it('need no rule where there are none', () => {
    const row = convert('{"mode": "embedding", "input_cost_per_token": 1, "output_cost_per_token": 0}');
    expect(Object.keys(pricesOf(row))).toEqual(['llm.input_tokens', 'llm.output_tokens']);
  });
});

describe('what is not converted', () => {
  it.each([
    // Variants of a price that the row does not have.
    'input_cost_per_token_batches',
    'output_cost_per_token_priority',
    'cache_read_input_token_cost_flex',
    'input_cost_per_token_above_200k_tokens_priority',
    'input_cost_per_character',
    'output_cost_per_image',
    'input_cost_per_second',
    'search_context_cost_per_query',
    'tiered_pricing',
    'input_cost_per_token_above_200k_tokens',
    'regional_processing_uplift_multiplier_eu',
    'a_key_that_nobody_knows_yet',
    '__proto__',
  ])('%s is named', (key) => {
    expect(convert(`{"${key}": 1, "supports_vision": true}`)).toMatchObject({ rules: [], leftOut: [key] });
  });
});

describe('prices of larger prompts', () => {
  const ROW = `{"mode": "chat", "input_cost_per_token": 1, "output_cost_per_token": 2,
    "input_cost_per_token_above_128k_tokens": 3, "input_cost_per_token_above_200k_tokens": 4,
    "output_cost_per_token_above_200k_tokens": 5}`;
  const matchesOf = (metric: string, dimension: string) =>
    convert(ROW, dimension)
      .rules.filter((rule) => rule.metric === metric)
      .map((rule) => [rule.match_expr, priceOfOne(rule)]);

  it('come before the others, the largest first, by a dimension that says it', () => {
    expect(matchesOf('llm.input_tokens', 'prompt_tokens')).toEqual([
      ['dimensions.model == "m" && dimensions.prompt_tokens > 200000', 'dec("4")'],
      ['dimensions.model == "m" && dimensions.prompt_tokens > 128000', 'dec("3")'],
      ['dimensions.model == "m"', 'dec("1")'],
    ]);
    expect(convert(ROW, 'prompt_tokens')).toMatchObject({ leftOut: [], promptSizes: [200_000, 128_000] });
  });

  it('count for the tokens that a price stands in for', () => {
    expect(matchesOf('llm.reasoning_tokens', 'prompt-size')).toEqual([
      ['dimensions.model == "m" && dimensions["prompt-size"] > 200000', 'dec("5")'],
      ['dimensions.model == "m"', 'dec("2")'],
    ]);
  });
});

it('states a price for a million, or for one where a million would be too much to record', () => {
  const { rules } = convert(
    '{"mode": "embedding", "input_cost_per_token": 7.5e-08, "output_cost_per_token": 12345678901234567890}',
  );
  expect(rules).toMatchObject([
    { unit_price_expr: 'dec("0.075")', pricing_unit: '1000000' },
    { unit_price_expr: 'dec("12345678901234567890")' },
  ]);
  expect(rules[1]).not.toHaveProperty('pricing_unit');
});

describe('prices of service tiers and batches', () => {
  const ROW = `{"mode": "embedding", "input_cost_per_token": 1, "input_cost_per_token_flex": 2,
    "input_cost_per_token_priority": 3, "input_cost_per_token_batches": 4,
    "input_cost_per_token_above_200k_tokens": 5, "input_cost_per_token_above_200k_tokens_priority": 6}`;
  const PRIORITY =
    '(dimensions.service_tier == "priority" || dimensions.traffic_type == "ON_DEMAND_PRIORITY")';
  const FLEX = '(dimensions.service_tier == "flex" || dimensions.traffic_type == "ON_DEMAND_FLEX")';

  it('come before the others, each at a place of its own', () => {
    const { rules, leftOut } = convert(ROW, 'prompt');
    expect(rules.map((rule) => [rule.priority, rule.match_expr, priceOfOne(rule)])).toEqual([
      [95, 'dimensions.model == "m" && dimensions.service_tier == "batch"', 'dec("4")'],
      [96, `dimensions.model == "m" && dimensions.prompt > 200000 && ${PRIORITY}`, 'dec("6")'],
      [97, 'dimensions.model == "m" && dimensions.prompt > 200000', 'dec("5")'],
      [98, `dimensions.model == "m" && ${FLEX}`, 'dec("2")'],
      [99, `dimensions.model == "m" && ${PRIORITY}`, 'dec("3")'],
      [100, 'dimensions.model == "m"', 'dec("1")'],
    ]);
    expect(leftOut).toEqual([]);
  });

  it.each([
    ['gemini', FLEX],
    ['vertex_ai-language-models', FLEX],
    ['openai', 'dimensions.service_tier == "flex"'],
  ])('ask for the traffic type of Google where the provider is %s: %s', (provider, condition) => {
    const row = `{"litellm_provider": "${provider}", "input_cost_per_token": 1, "input_cost_per_token_flex": 2}`;
    expect(convert(row).rules[0]?.match_expr).toBe(`dimensions.model == "m" && ${condition}`);
  });

  it.each<[object, string]>([
    [{}, '1'],
    [{ service_tier: 'default' }, '1'],
    [{ service_tier: 'flex' }, '2'],
    [{ traffic_type: 'ON_DEMAND_FLEX' }, '2'],
    [{ service_tier: 'priority' }, '3'],
    [{ traffic_type: 'ON_DEMAND_PRIORITY' }, '3'],
    [{ service_tier: 'batch' }, '4'],
    [{ prompt: 200_001 }, '5'],
    [{ prompt: 200_001, service_tier: 'flex' }, '5'],
    [{ prompt: 200_001, service_tier: 'priority' }, '6'],
    [{ prompt: 200_001, service_tier: 'batch' }, '4'],
  ])('are charged to an event with %j: %s', (fields, amount) => {
    const extractor = {
      dimensions: [
        { name: 'model', path: 'model', type: 'string' as const },
        { name: 'service_tier', path: 'service_tier', type: 'string' as const },
        { name: 'traffic_type', path: 'traffic_type', type: 'string' as const },
        { name: 'prompt', path: 'prompt', type: 'number' as const },
      ],
      charge_item_extractors: [{ metric: 'llm.input_tokens', path: 'n', type: 'number' as const }],
    };
    const pricing = pricingOf({ rules: [...convert(ROW, 'prompt').rules] });
    const rated = rate(extractor, JSON.stringify({ model: 'm', n: 1, ...fields }), {}, [pricing]);
    expect(itemsOf(rated)[0]?.amount).toBe(amount);
  });
});
