import type { ExtractorConfig } from '@tollgate/contract';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromStored, toText } from '../../../kernel/decimal.js';
import { parseLossless } from '../../../kernel/json/json.js';
import { pricingOf, rate } from '../testing.js';
import { convertPriceTable } from './convert-table.js';

const METRICS = {
  input_cost_per_token: 'llm.input_tokens',
  cache_read_input_token_cost: 'llm.cached_input_tokens',
  cache_creation_input_token_cost: 'llm.cache_write_tokens',
  output_cost_per_token: 'llm.output_tokens',
  output_cost_per_reasoning_token: 'llm.reasoning_tokens',
  output_cost_per_audio_token: 'llm.output_audio_tokens',
} as const;
type Key = keyof typeof METRICS;
const KEYS = Object.keys(METRICS) as Key[];

const EXTRACTOR: ExtractorConfig = {
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'prompt', path: 'prompt', type: 'number' },
  ],
  charge_item_extractors: KEYS.map((key) => ({ metric: METRICS[key], path: key, type: 'number' })),
};

/** A price as a file may write it, and its value × 10^18. */
const price = fc
  .record({ coefficient: fc.bigInt(0n, 10n ** 12n), scale: fc.integer({ min: 0, max: 18 }) })
  .chain(({ coefficient, scale }) => {
    const decimals = `${coefficient}`.padStart(scale + 1, '0');
    const plain = scale === 0 ? decimals : `${decimals.slice(0, -scale)}.${decimals.slice(-scale)}`;
    const text = fc.constantFrom(plain, `${coefficient}e-${scale}`, `${coefficient}.00E-${scale}`);
    return fc.record({ text, stored: fc.constant(coefficient * 10n ** BigInt(18 - scale)) });
  });
const pricesByKey = fc.record(
  Object.fromEntries(KEYS.map((key) => [key, price])) as Record<Key, typeof price>,
);
const quantitiesByKey = fc.record(
  Object.fromEntries(KEYS.map((key) => [key, fc.nat(10_000_000)])) as Record<Key, fc.Arbitrary<number>>,
);
const modelName = fc.string({
  unit: fc.constantFrom('a', 'b', '"', '\\', '/', '.', ' ', 'é'),
  minLength: 1,
  maxLength: 6,
});
const table = fc.dictionary(modelName, pricesByKey, { minKeys: 1, maxKeys: 8, noNullPrototype: true });

const membersText = (prices: Record<string, { readonly text: string }>) =>
  Object.entries(prices).map(([key, { text }]) => `"${key}": ${text}`);
const tableText = (models: Record<string, Record<Key, { readonly text: string }>>) =>
  `{${Object.entries(models)
    .map(([model, prices]) => `${JSON.stringify(model)}: {${membersText(prices).join(', ')}}`)
    .join(', ')}}`;

function amounts(json: string, event: Readonly<Record<string, unknown>>): Record<string, string> {
  const options = { models: [], providers: [], promptTokensDimension: 'prompt' };
  const rules = convertPriceTable(parseLossless(json), options).models.flatMap((model) => [...model.rules]);
  const rated = rate(EXTRACTOR, JSON.stringify(event), {}, [pricingOf({ rules })]);
  if (!rated.ok) throw new Error(rated.failure.message);
  return Object.fromEntries(rated.items.map(({ metric, amount }) => [metric, toText(fromStored(amount))]));
}

const storedText = (stored: bigint) => toText(fromStored(stored));

it('charges quantity × price of exactly the model, to the last digit', () => {
  fc.assert(
    fc.property(table, quantitiesByKey, fc.nat(), (models, quantities, pick) => {
      const names = Object.keys(models);
      const model = names[pick % names.length] as string;
      const charged = amounts(tableText(models), { model, ...quantities });
      const prices = models[model] as (typeof models)[string];
      const expected = KEYS.map((key) => [
        METRICS[key],
        storedText(prices[key].stored * BigInt(quantities[key])),
      ]);
      expect(charged).toEqual(Object.fromEntries(expected));
    }),
  );
});

it('charges a request by the size of its prompt where a dimension says it', () => {
  fc.assert(
    fc.property(
      price,
      price,
      price,
      fc.integer({ min: 199_990, max: 272_010 }),
      (small, large, huge, prompt) => {
        const json = `{"m": {"input_cost_per_token": ${small.text}, "input_cost_per_token_above_200k_tokens": ${large.text},
        "input_cost_per_token_above_272k_tokens": ${huge.text}}}`;
        const due = prompt > 272_000 ? huge : prompt > 200_000 ? large : small;
        expect(amounts(json, { model: 'm', prompt, input_cost_per_token: 7 })).toEqual({
          'llm.input_tokens': storedText(due.stored * 7n),
        });
      },
    ),
  );
});

it('charges nothing for a model that the table does not have', () => {
  const json = '{"m": {"input_cost_per_token": 1}}';
  expect(amounts(json, { model: 'M', input_cost_per_token: 7 })).toEqual({ 'llm.input_tokens': '0' });
});
