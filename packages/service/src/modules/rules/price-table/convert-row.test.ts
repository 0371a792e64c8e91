import type { PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json.js';
import { type ConvertedRow, convertRow, IMPORTED_PRIORITY, type PriceRow } from './convert-row.js';

/** A row as it stands in the file. */
const convert = (json: string, promptTokensDimension?: string): ConvertedRow =>
  convertRow('m', parseLossless(json) as PriceRow, promptTokensDimension);

const pricesOf = ({ rules }: ConvertedRow) =>
  Object.fromEntries(rules.map(({ metric, unit_price_expr }) => [metric, unit_price_expr]));

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
      unit_price_expr: 'dec("0.0000025")',
    },
  ]);
  expect(rest).toEqual({ fallbacks: [], leftOut: [], refused: [], rounded: [] });
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
    expect(row.rules.map(({ unit_price_expr }) => unit_price_expr)).toEqual([`dec("${price}")`]);
    expect(row).toMatchObject({ refused: [], rounded: [] });
  });

  it.each([
    ['1.2500000000000001e-06', '0.00000125'],
    ['1e-19', '0'],
    ['1.5e-18', '0.000000000000000002'],
  ])('of %s is rounded to what is recorded, and that is told', (written, price) => {
    const row = convert(`{"mode": "embedding", "input_cost_per_token": ${written}}`);
    expect(pricesOf(row)).toEqual({ 'llm.input_tokens': `dec("${price}")` });
    expect(row.rounded).toEqual(['input_cost_per_token']);
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
    'input_cost_per_token_batches',
    'output_cost_per_token_priority',
    'cache_read_input_token_cost_flex',
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
      .map(({ match_expr, unit_price_expr }) => [match_expr, unit_price_expr]);

  it('are left out while nothing says how large a prompt was', () => {
    expect(convert(ROW)).toMatchObject({
      rules: { length: 4 },
      leftOut: [
        'input_cost_per_token_above_128k_tokens',
        'input_cost_per_token_above_200k_tokens',
        'output_cost_per_token_above_200k_tokens',
      ],
    });
  });

  it('come before the others, the largest first, by a dimension that says it', () => {
    expect(matchesOf('llm.input_tokens', 'prompt_tokens')).toEqual([
      ['dimensions.model == "m" && dimensions.prompt_tokens > 200000', 'dec("4")'],
      ['dimensions.model == "m" && dimensions.prompt_tokens > 128000', 'dec("3")'],
      ['dimensions.model == "m"', 'dec("1")'],
    ]);
    expect(convert(ROW, 'prompt_tokens').leftOut).toEqual([]);
  });

  it('count for the tokens that a price stands in for', () => {
    expect(matchesOf('llm.reasoning_tokens', 'prompt-size')).toEqual([
      ['dimensions.model == "m" && dimensions["prompt-size"] > 200000', 'dec("5")'],
      ['dimensions.model == "m"', 'dec("2")'],
    ]);
  });
});
