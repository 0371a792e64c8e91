import { expect, it } from 'vitest';
import { convertPriceTable } from '../../modules/rules/index.js';
import { describeConversion } from './describe-conversion.js';

const described = (table: unknown, promptTokensDimension = 'prompt_size') => {
  const options = { models: [], providers: [], promptTokensDimension };
  return describeConversion(convertPriceTable(table, options), promptTokensDimension).split('\n');
};

it('names what the rules do not say, by key and model', () => {
  expect(
    described({
      plain: { mode: 'embedding', input_cost_per_token: 1e-6, output_cost_per_token: 0 },
      a: {
        input_cost_per_token: 1,
        input_cost_per_token_batches: 1,
        input_cost_per_token_above_200k_tokens: 2,
      },
      b: { output_cost_per_image: 1, input_cost_per_token_batches: 1 },
      'c\u202e\n': { input_cost_per_token: 1 },
      d: { 'odd\u0007key': 1, input_cost_per_token: -1 },
      e: { mode: 'embedding', input_cost_per_token: 1e-26 },
    }),
  ).toEqual([
    '3 models priced by 9 rules.',
    'Larger prompts, above 200k tokens, are priced by the dimension prompt_size. Events without it are charged the base price.',
    'Without their own price, charged at the price of input or output:',
    '  llm.cached_input_tokens: 1 model (a)',
    'Rounded to 18 decimals of the price of a million:',
    '  input_cost_per_token: 1 model (e)',
    'Not converted:',
    '  output_cost_per_image: 1 model (b)',
    '  input_cost_per_token_batches: 1 model (b)',
    '  odd\\u{7}key: 1 model (d)',
    'Refused:',
    '  the name of the model has control characters: 1 model (c\\u{202e}\\u{a})',
    '  input_cost_per_token is negative: 1 model (d)',
    'Without a price per token: 1 model (b)',
  ]);
});

it('names sizes of the prompt that the bands of the templates do not separate', () => {
  const table = {
    a: {
      mode: 'embedding',
      input_cost_per_token: 1,
      input_cost_per_token_above_300k_tokens: 3,
      input_cost_per_token_above_128k_tokens: 2,
    },
  };
  expect(described(table)).toEqual([
    '1 model priced by 3 rules.',
    'Larger prompts, above 128k, 300k tokens, are priced by the dimension prompt_size. Events without it are charged the base price.',
    '  The templates have no band above 300k: add 300001 to the bands of prompt_size.',
  ]);
  expect(described(table, 'prompt_tokens').slice(1)).toEqual([
    'Larger prompts, above 128k, 300k tokens, are priced by the dimension prompt_tokens. Events without it are charged the base price.',
  ]);
});

it('is one line when nothing else is to be said', () => {
  expect(described({ a: { mode: 'embedding', input_cost_per_token: 1 } })).toEqual([
    '1 model priced by 1 rule.',
  ]);
});

it('names ten models of a finding, and counts the others', () => {
  const row = { mode: 'embedding', input_cost_per_token: 1, output_cost_per_image: 1 };
  const table = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, row]));
  const ten = 'm0, m1, m2, m3, m4, m5, m6, m7, m8, m9';
  expect(described(table(10)).at(-1)).toBe(`  output_cost_per_image: 10 models (${ten})`);
  expect(described(table(12)).at(-1)).toBe(`  output_cost_per_image: 12 models (${ten} and 2 more)`);
});
