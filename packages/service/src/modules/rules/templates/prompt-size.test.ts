import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json/json.js';
import { convertPriceTable } from '../price-table/index.js';
import { itemsOf, pricingOf, rate } from '../testing.js';
import { expandTemplate, TEMPLATES } from './index.js';
import { PROMPT_SIZE, PROMPT_SIZES } from './prompt-size.js';

const rated = (template: string, rawJson: object, prices: Parameters<typeof rate>[3] = []) =>
  rate(expandTemplate({ template_id: template }), JSON.stringify(rawJson), {}, prices);

const bandOf = (template: string, rawJson: object): string | undefined =>
  rated(template, rawJson).dimensions.get(PROMPT_SIZE)?.toString();

/** Payloads whose prompts have this many tokens in total. */
const PROMPTS: Readonly<Record<string, (tokens: number) => object>> = {
  openai_chat_completions: (tokens) => ({
    model: 'm',
    usage: { prompt_tokens: tokens, prompt_tokens_details: { cached_tokens: tokens - 1 } },
  }),
  openai_responses: (tokens) => ({
    model: 'm',
    usage: { input_tokens: tokens, input_tokens_details: { cached_tokens: tokens - 1 } },
  }),
  anthropic_messages: (tokens) => ({
    model: 'm',
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: tokens - 110,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
      // Separate requests, which the API made before this one.
      iterations: [{ type: 'compaction', input_tokens: 900_000 }],
    },
  }),
  google_gemini: (tokens) => ({
    modelVersion: 'm',
    usageMetadata: {
      promptTokenCount: tokens - 7,
      cachedContentTokenCount: 5_000,
      toolUsePromptTokenCount: 7,
    },
  }),
  aws_bedrock_converse: (tokens) => ({
    modelId: 'm',
    usage: { inputTokens: 10, cacheReadInputTokens: tokens - 110, cacheWriteInputTokens: 100 },
  }),
};

it('is known of every call of a language model', () => {
  const withSize = TEMPLATES.filter(({ dimensions }) => dimensions.some(({ name }) => name === PROMPT_SIZE));
  expect(withSize.map(({ id }) => id)).toEqual(Object.keys(PROMPTS));
});

describe.each(Object.entries(PROMPTS))('the prompt of %s', (template, promptOf) => {
  it('is its whole size, in the bands of public prices', () => {
    expect(bandOf(template, promptOf(100_000))).toBe('0');
    for (const size of PROMPT_SIZES) {
      expect(Number(bandOf(template, promptOf(size))), String(size)).toBeLessThan(size);
      expect(bandOf(template, promptOf(size + 1))).toBe(String(size + 1));
    }
    expect(bandOf(template, promptOf(5_000_000))).toBe('512001');
  });

  it('is unknown, not small, where nothing is counted', () => {
    const [model] = Object.keys(promptOf(1_000));
    expect(bandOf(template, { [model as string]: 'm' })).toBeUndefined();
  });
});

it('covers every size that the public table has prices for', () => {
  const table = readFileSync(
    new URL('../../../../../../tests/samples/model-prices.json', import.meta.url),
    'utf8',
  );
  const options = { models: [], providers: [], promptTokensDimension: PROMPT_SIZE };
  const { promptSizes } = convertPriceTable(parseLossless(table), options);
  expect(promptSizes.length).toBeGreaterThan(0);
  expect(PROMPT_SIZES).toEqual(expect.arrayContaining([...promptSizes]));
});

describe('an imported price of larger prompts', () => {
  const row =
    '{"m": {"mode": "chat", "input_cost_per_token": 1, "input_cost_per_token_above_200k_tokens": 2, "output_cost_per_token": 3}}';
  const options = { models: [], providers: [], promptTokensDimension: PROMPT_SIZE };
  const rules = convertPriceTable(parseLossless(row), options).models.flatMap((model) => [...model.rules]);

  it.each([
    [100_000, '1'],
    [200_000, '1'],
    [200_001, '2'],
    [250_000, '2'],
  ])('of %d tokens is %s, by every template', (tokens, price) => {
    for (const [template, promptOf] of Object.entries(PROMPTS)) {
      const items = itemsOf(rated(template, promptOf(tokens), [pricingOf({ rules })]));
      const input = items.filter(({ metric }) => metric === 'llm.input_tokens');
      expect(
        input.map(({ unitPrice }) => unitPrice),
        template,
      ).toEqual(input.map(() => price));
      expect(input.length).toBeGreaterThan(0);
    }
  });

  it('is not charged where the size is unknown', () => {
    const config = expandTemplate({
      template_id: 'openai_chat_completions',
      dimensions: [{ name: 'model', path: 'model', type: 'string' }],
    });
    const event = JSON.stringify({ model: 'm', usage: { prompt_tokens: 250_000 } });
    expect(itemsOf(rate(config, event, {}, [pricingOf({ rules })]))[0]).toMatchObject({ unitPrice: '1' });
  });
});
