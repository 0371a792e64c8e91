import { readFileSync } from 'node:fs';
import { EXPRESSION_BYTES_MAX, NAME_CHARS_MAX } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decimal } from '../../../kernel/decimal.js';
import { parseLossless } from '../../../kernel/json/json.js';
import { compileExpression } from '../expression/index.js';
import { decimal, envWith, matchOf } from '../expression/testing.js';
import {
  type ConversionOptions,
  type ConvertedTable,
  convertPriceTable,
  PriceTableError,
} from './convert-table.js';
import { priceOfOne } from './testing.js';

const SAMPLE = readFileSync(
  new URL('../../../../../../tests/samples/model-prices.json', import.meta.url),
  'utf8',
);

const convert = (json: string, options: Partial<ConversionOptions> = {}) =>
  withRules(
    convertPriceTable(parseLossless(json), {
      models: [],
      providers: [],
      promptTokensDimension: 'prompt_tokens',
      ...options,
    }),
  );
const withRules = (table: ConvertedTable) => ({
  ...table,
  rules: table.models.flatMap(({ rules }) => rules),
  priced: table.models.map(({ model }) => model),
});

const withModel = (model: string) => envWith({ dimensions: new Map([['model', model]]) });

describe('the table that gateways share', () => {
  it('becomes rules that compile, each with a name of its own', () => {
    const { rules, priced } = convert(SAMPLE);
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    for (const { match_expr = '', unit_price_expr = '' } of rules) {
      expect(compileExpression(match_expr, { kind: 'match' })).toMatchObject({ ok: true });
      expect(compileExpression(unit_price_expr, { kind: 'unit_price' })).toMatchObject({ ok: true });
    }
    expect(priced).toHaveLength(24);
  });

  it('leaves nothing unsaid', () => {
    const { withoutTokenPrice, leftOut, fallbacks, refused, rounded, promptSizes } = convert(SAMPLE);
    expect(promptSizes).toEqual([128_000, 200_000]);
    expect(withoutTokenPrice).toEqual([
      'whisper-1',
      '256-x-256/dall-e-2',
      'bedrock/us-west-2/1-month-commitment/anthropic.claude-v2:1',
      'dashscope/qwen3-max',
      'elevenlabs/scribe_v1',
      'perplexity/search',
    ]);
    expect(leftOut.get('tiered_pricing')).toEqual(['dashscope/qwen3-max']);
    expect(leftOut.get('input_cost_per_token_batches')).toBeUndefined();
    expect([...leftOut.keys()].filter((key) => key.includes('_above_'))).toEqual([]);
    expect(fallbacks.get('llm.cached_input_tokens')).toContain('gpt-5-pro');
    expect([refused.size, rounded.size]).toEqual([0, 0]);
  });

  it.each([
    ['gpt-4o-mini llm.cached_input_tokens', '0.000000075'],
    ['gpt-5-nano llm.cached_input_tokens', '0.000000005'],
    ['claude-haiku-4-5-20251001 llm.cache_write_1h_tokens', '0.000002'],
    ['amazon.nova-2-pro-preview-20251202-v1:0 llm.cached_input_tokens', '0.000000546875'],
    ['gemini/gemini-exp-1206 llm.output_tokens', '0'],
    ['dashscope/qwen-turbo llm.reasoning_tokens', '0.0000005'],
    ['mistral/mistral-small-latest llm.cached_input_tokens', '0.0000001'],
  ])('prices %s at %s', (name, price) => {
    const rule = convert(SAMPLE).rules.find((candidate) => candidate.name === name);
    expect(rule && priceOfOne(rule)).toBe(`dec("${price}")`);
  });
});

describe('choosing models', () => {
  it.each<[string, Partial<ConversionOptions>, string[]]>([
    ['by pattern', { models: ['gpt-5-?ano', 'o3'] }, ['gpt-5-nano', 'o3']],
    [
      'by provider',
      { providers: ['mistral', 'cohere'] },
      ['embed-english-v3.0', 'mistral/mistral-small-latest'],
    ],
    [
      'by both',
      { models: ['gemini*'], providers: ['gemini'] },
      ['gemini/gemini-3.1-pro-preview', 'gemini/gemini-exp-1206'],
    ],
  ])('%s', (_how, options, priced) => {
    expect(convert(SAMPLE, options).priced).toEqual(priced);
  });

  it.each<[string, Partial<ConversionOptions>, string]>([
    ['a pattern', { models: ['gpt-4o', 'gtp-*'] }, 'has no model "gtp-*"'],
    ['a provider', { providers: ['openia', 'openai'] }, 'has no provider "openia"'],
    [
      'both together',
      { models: ['gpt-4o'], providers: ['cohere'] },
      'has no model that these options select',
    ],
    ['the sample row', { models: ['sample_spec'] }, 'has no model "sample_spec"'],
  ])('refuses %s that chooses nothing', (_what, options, message) => {
    expect(() => convert(SAMPLE, options)).toThrow(new PriceTableError(message));
  });

  it.each(['[]', 'null', '3', '"gpt-4o"'])('refuses %s for a table', (json) => {
    expect(() => convert(json)).toThrow('is not a JSON object of models and their prices');
  });

  it('refuses a table of nothing', () => {
    expect(() => convert('{"sample_spec": {"input_cost_per_token": 1}}')).toThrow('has no model');
  });
});

describe('a model', () => {
  const matchExpressionOf = (model: string): string => {
    const [rule] = convert(`{${JSON.stringify(model)}: {"input_cost_per_token": 1}}`).rules;
    if (rule?.match_expr === undefined) throw new Error(`no rule for ${model}`);
    return rule.match_expr;
  };

  it.each([
    'a"b',
    "a'b",
    'a\\b',
    'a\\',
    '\\"',
    '" || true || "',
    '\\" || true || \\"',
    'r"x"',
    '"""',
    'a`b',
    'größe-ü-漢字-🙂',
    'a\u2028b\u2029c\ufeffd\u202ee',
    '\\u0041\\x41\\101\\n',
    '__proto__',
    'constructor',
    '{{ }}; -- /* */ // %s',
  ])('named %s is matched by that name and no other', (model) => {
    const expression = matchExpressionOf(model);
    expect(matchOf(expression, withModel(model))).toBe('true');
    expect(matchOf(expression, withModel(`${model} `))).toBe('false');
    expect(matchOf(expression, withModel('A'))).toBe('false');
  });

  it('of any name is matched by that name, or refused', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 150 }),
        fc.string({ unit: 'binary', maxLength: 5 }),
        (model, other) => {
          fc.pre(model !== 'sample_spec');
          const { rules, refused } = convert(`{${JSON.stringify(model)}: {"input_cost_per_token": 1}}`);
          expect(rules.length > 0).toBe(refused.size === 0);
          for (const { name = '', match_expr = '' } of rules) {
            expect(name.length).toBeLessThanOrEqual(NAME_CHARS_MAX);
            expect(Buffer.byteLength(match_expr)).toBeLessThanOrEqual(EXPRESSION_BYTES_MAX);
            expect(matchOf(match_expr, withModel(model))).toBe('true');
            expect(matchOf(match_expr, withModel(other))).toBe(String(other === model));
          }
        },
      ),
    );
  });

  it.each([
    ['', 'the name of the model is empty'],
    ['a\nb', 'the name of the model has control characters'],
    ['a\0', 'the name of the model has control characters'],
    ['a\ud800', 'the name of the model has control characters'],
    ['x'.repeat(141), 'the name of the model has more than 140 characters'],
  ])('named %j is refused', (model, reason) => {
    const { rules, refused } = convert(`{${JSON.stringify(model)}: {"input_cost_per_token": 1}}`);
    expect(rules).toEqual([]);
    expect([...refused]).toEqual([[reason, [model]]]);
  });

  it.each(['null', '[]', '"2026-07-01"', '0.1'])('is none where the entry is %s', (row) => {
    const { notModels, priced, refused } = convert(
      `{"m": {"input_cost_per_token": 1}, "last_updated": ${row}}`,
    );
    expect([notModels, priced, refused.size]).toEqual([['last_updated'], ['m'], 0]);
  });
});

it('prices a larger prompt by the dimension that says its size', () => {
  const model = 'claude-sonnet-4-20250514';
  const [larger] = convert(SAMPLE, { models: [model] }).rules;
  expect(larger).toMatchObject({
    name: `${model} llm.input_tokens above 200k`,
    unit_price_expr: 'dec("6")',
    pricing_unit: '1000000',
  });
  const isMatched = (promptTokens: string) => {
    const dimensions = new Map<string, Decimal | string>([
      ['model', model],
      ['prompt_tokens', decimal(promptTokens)],
    ]);
    return matchOf(larger?.match_expr ?? '', envWith({ dimensions }));
  };
  expect(['200000', '200000.5', '200001'].map(isMatched)).toEqual(['false', 'true', 'true']);
});
