import type { PricingConfig } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { add, parseDecimal, toText } from '../../../kernel/decimal.js';
import { itemsOf, pricingOf, rate } from '../testing.js';
import { expandTemplate, TEMPLATES } from './index.js';

interface Case {
  readonly template: string;
  /** Title of the sample, which is the response that is charged. */
  readonly sample: string;
  readonly model: string;
  /** From the provider's public price list: USD for a million tokens; for requests, for one. */
  readonly prices: Readonly<Record<string, string>>;
  /** Computed by hand: each metric, quantity × price, in USD. */
  readonly amounts: readonly (readonly [metric: string, amount: string])[];
  readonly total: string;
}

const cases: readonly Case[] = [
  {
    // OpenAI, gpt-5, standard: input 1.25, cached input 0.125, output 10; reasoning is charged as output.
    template: 'openai_chat_completions',
    sample: 'A response with cached input and reasoning',
    model: 'gpt-5-2025-08-07',
    prices: {
      'llm.input_tokens': '1.25',
      'llm.cached_input_tokens': '0.125',
      'llm.output_tokens': '10',
      'llm.reasoning_tokens': '10',
    },
    amounts: [
      ['llm.input_tokens', '0.0001075'], // (2006 − 1920) × 1.25
      ['llm.cached_input_tokens', '0.00024'], // 1920 × 0.125
      ['llm.cache_write_tokens', '0'],
      ['llm.input_audio_tokens', '0'],
      ['llm.output_tokens', '0.00108'], // (300 − 192) × 10
      ['llm.reasoning_tokens', '0.00192'], // 192 × 10
      ['llm.output_audio_tokens', '0'],
    ],
    total: '0.0033475',
  },
  {
    // OpenAI, gpt-4o-audio-preview: text input 2.50, text output 10, audio input 40, audio output 80.
    template: 'openai_chat_completions',
    sample: 'A response with input and output audio',
    model: 'gpt-4o-audio-preview-2024-12-17',
    prices: {
      'llm.input_tokens': '2.50',
      'llm.input_audio_tokens': '40',
      'llm.output_tokens': '10',
      'llm.output_audio_tokens': '80',
    },
    amounts: [
      ['llm.input_tokens', '0.00005'], // (120 − 100) × 2.50
      ['llm.cached_input_tokens', '0'],
      ['llm.input_audio_tokens', '0.004'], // 100 × 40
      ['llm.output_tokens', '0.0005'], // (250 − 200) × 10
      ['llm.reasoning_tokens', '0'],
      ['llm.output_audio_tokens', '0.016'], // 200 × 80
    ],
    total: '0.02055',
  },
  {
    // OpenAI, gpt-5.6, standard: input 5, cached input 0.50, cache write 6.25, output 30.
    template: 'openai_responses',
    sample: 'A response with cache reads, cache writes and reasoning',
    model: 'gpt-5.6',
    prices: {
      'llm.input_tokens': '5',
      'llm.cached_input_tokens': '0.50',
      'llm.cache_write_tokens': '6.25',
      'llm.output_tokens': '30',
      'llm.reasoning_tokens': '30',
    },
    amounts: [
      ['llm.input_tokens', '0.001285'], // (12033 − 8192 − 3584) × 5
      ['llm.cached_input_tokens', '0.004096'], // 8192 × 0.50
      ['llm.cache_write_tokens', '0.0224'], // 3584 × 6.25
      ['llm.output_tokens', '0.00396'], // (644 − 512) × 30
      ['llm.reasoning_tokens', '0.01536'], // 512 × 30
    ],
    total: '0.047101',
  },
  {
    // Anthropic, Claude Sonnet 4.5: input 3, cache read 0.30, cache write 3.75 for five minutes and 6 for an hour,
    // output 15, thinking included; a thousand web searches 10.
    template: 'anthropic_messages',
    sample: 'A response with both cache lifetimes, thinking and web searches',
    model: 'claude-sonnet-4-5-20250929',
    prices: {
      'llm.input_tokens': '3',
      'llm.cached_input_tokens': '0.30',
      'llm.cache_write_tokens': '3.75',
      'llm.cache_write_1h_tokens': '6',
      'llm.output_tokens': '15',
      'llm.reasoning_tokens': '15',
      'llm.web_search_requests': '0.01',
    },
    amounts: [
      ['llm.input_tokens', '0.006285'], // 2095 × 3
      ['llm.cached_input_tokens', '0.0054'], // 18000 × 0.30
      ['llm.cache_write_tokens', '0.013125'], // (4500 − 1000) × 3.75
      ['llm.cache_write_1h_tokens', '0.006'], // 1000 × 6
      ['llm.output_tokens', '0.0045'], // (503 − 203) × 15
      ['llm.reasoning_tokens', '0.003045'], // 203 × 15
      ['llm.web_search_requests', '0.02'], // 2 × 0.01
    ],
    total: '0.058355',
  },
  {
    // Google, Gemini 2.5 Flash: input 0.30 and audio 1.00, cached 0.03, output 2.50 with thinking.
    template: 'google_gemini',
    sample: 'A response with cached input, thoughts, tool use, and audio added by the gateway',
    model: 'gemini-2.5-flash',
    prices: {
      'llm.input_tokens': '0.30',
      'llm.cached_input_tokens': '0.03',
      'llm.input_audio_tokens': '1.00',
      'llm.output_tokens': '2.50',
      'llm.reasoning_tokens': '2.50',
    },
    amounts: [
      ['llm.input_tokens', '0.0001536'], // (3200 − 2048 − 640) × 0.30
      ['llm.input_tokens', '0.0000384'], // 128 × 0.30, for tool use
      ['llm.cached_input_tokens', '0.00006144'], // 2048 × 0.03
      ['llm.input_audio_tokens', '0.00064'], // 640 × 1.00
      ['llm.output_tokens', '0.000575'], // 230 × 2.50
      ['llm.reasoning_tokens', '0.001025'], // 410 × 2.50
    ],
    total: '0.00249344',
  },
  {
    // Amazon Bedrock, Claude Sonnet 4.5, global: input 3, cache read 0.30, cache write 3.75 and 6 for an
    // hour, output 15.
    template: 'aws_bedrock_converse',
    sample: 'A response that read the cache and wrote to it for both lifetimes',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    prices: {
      'llm.input_tokens': '3',
      'llm.cached_input_tokens': '0.30',
      'llm.cache_write_tokens': '3.75',
      'llm.cache_write_1h_tokens': '6',
      'llm.output_tokens': '15',
    },
    amounts: [
      ['llm.input_tokens', '0.00009'], // 30 × 3
      ['llm.cached_input_tokens', '0.0033'], // 11000 × 0.30
      ['llm.cache_write_tokens', '0.00375'], // (1500 − 500) × 3.75
      ['llm.cache_write_1h_tokens', '0.003'], // 500 × 6
      ['llm.output_tokens', '0.00942'], // 628 × 15
    ],
    total: '0.01956',
  },
];

function pricingConfigOf({ model, prices }: Case): PricingConfig {
  return {
    currency: 'USD',
    rules: Object.entries(prices).map(([metric, price]) => ({
      metric,
      match_expr: `dimensions.model == "${model}"`,
      unit_price_expr: metric.endsWith('_tokens')
        ? `dec_div(dec("${price}"), dec(1000000), 18)`
        : `dec("${price}")`,
    })),
  };
}

/** Returns the sample's charge items: metric, amount, and whether a rule priced them. */
function charged(example: Case) {
  const template = TEMPLATES.find(({ id }) => id === example.template);
  const sample = template?.samples.find(({ title }) => title === example.sample);
  if (sample === undefined) throw new Error(`there is no sample ${example.sample}`);
  const config = expandTemplate({ template_id: example.template });
  const pricing = pricingOf(pricingConfigOf(example));
  return itemsOf(rate(config, JSON.stringify(sample.raw_json), {}, [pricing]));
}

const decimal = (text: unknown) => {
  const value = parseDecimal(String(text));
  if (value === undefined) throw new Error(`${text} is not a decimal`);
  return value;
};

describe.each(cases)('$template: $sample', (example) => {
  it('costs what one computes by hand', () => {
    const items = charged(example);
    expect(items.map(({ metric, amount }) => [metric, amount])).toEqual(example.amounts);
    const total = items.map(({ amount }) => decimal(amount)).reduce(add);
    expect(toText(total)).toBe(example.total);
  });

  it('leaves nothing unpriced that has a quantity', () => {
    const unpriced = charged(example).filter(({ pricingSource }) => pricingSource === 'unpriced');
    expect(unpriced.filter(({ quantity }) => quantity !== '0')).toEqual([]);
  });
});

it('every template of a language model is among them', () => {
  const models = TEMPLATES.filter(({ charge_item_extractors: items }) =>
    items.some(({ metric }) => metric.startsWith('llm.')),
  );
  expect([...new Set(cases.map(({ template }) => template))]).toEqual(models.map(({ id }) => id));
});
