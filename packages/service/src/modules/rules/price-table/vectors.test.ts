import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { add, fromStored, toText } from '../../../kernel/decimal.js';
import { parseLossless } from '../../../kernel/json/json.js';
import { decimal } from '../expression/testing.js';
import { fitsPattern } from '../pricing/aliases.js';
import { itemsOf, pricingOf, rate } from '../testing.js';
import { convertPriceTable } from './convert-table.js';

const VECTORS = new URL('../../../../../../../shared/vectors/prices.json', import.meta.url);

const METRICS = {
  input: 'llm.input_tokens',
  cached: 'llm.cached_input_tokens',
  write: 'llm.cache_write_tokens',
  write1h: 'llm.cache_write_1h_tokens',
  audio_in: 'llm.input_audio_tokens',
  output: 'llm.output_tokens',
  reasoning: 'llm.reasoning_tokens',
  audio_out: 'llm.output_audio_tokens',
};
const EXTRACTOR = {
  dimensions: [
    { name: 'model', path: 'm', type: 'string' as const },
    { name: 'prompt_tokens', path: 'u.prompt', type: 'number' as const },
  ],
  charge_item_extractors: Object.entries(METRICS).map(([field, metric]) => {
    return { metric, path: `u.${field}`, type: 'number' as const };
  }),
};

interface Vector {
  readonly m: string;
  readonly u: object;
  readonly want: string;
}

/** Cases of another implementation; skipped where the file does not exist. */
it('charges in all what a gateway that shares the table charges, to the last digit', () => {
  if (!existsSync(VECTORS)) return;
  const text = readFileSync(VECTORS, 'utf8');
  const { rows } = parseLossless(text) as { rows: Record<string, unknown> };
  const { cases } = JSON.parse(text) as { cases: Vector[] };
  const options = { providers: [], promptTokensDimension: 'prompt_tokens' };
  const priced = (model: string) =>
    convertPriceTable({ [model]: rows[model] }, { ...options, models: [] }).models.flatMap(({ rules }) => [
      ...rules,
    ]);
  const charged = ({ m, u }: Vector) =>
    itemsOf(rate(EXTRACTOR, JSON.stringify({ m, u }), {}, [pricingOf({ rules: priced(m) })])).reduce(
      (sum, { amount }) => add(sum, decimal(String(amount))),
      fromStored(0n),
    );
  expect(cases.map((each) => [each.m, each.u, toText(charged(each))])).toEqual(
    cases.map(({ m, u, want }) => [m, u, want]),
  );
});

it('takes no other model of the table for one with the date of a release', () => {
  if (!existsSync(VECTORS)) return;
  const { rows } = parseLossless(readFileSync(VECTORS, 'utf8')) as { rows: Record<string, unknown> };
  const { models } = convertPriceTable(rows, {
    models: [],
    providers: [],
    promptTokensDimension: 'prompt_tokens',
  });
  const patterns = models.flatMap(({ aliases }) => aliases.map(({ pattern }) => pattern));
  const fitting = Object.keys(rows).flatMap((name) =>
    patterns
      .filter((pattern) => pattern.endsWith('*') && fitsPattern(pattern, name))
      .map((pattern) => name.slice(pattern.length - '-202*'.length)),
  );
  expect(patterns.length).toBeGreaterThan(500);
  expect(fitting.filter((ending) => !/^[-@]20\d\d-?\d\d-?\d\d(-v\d:0)?$/.test(ending))).toEqual([]);
});
