import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { itemsOf, rate } from '../testing.js';
import { expandTemplate } from './index.js';

const VECTORS = new URL('../../../../../../../shared/vectors/usage-shapes.json', import.meta.url);

interface Vector {
  readonly o: string;
  readonly template: string;
  readonly raw: object;
  /** Quantities by metric; a metric without an entry is 0. */
  readonly want: Readonly<Record<string, number>>;
}

function charged(template: string, raw: object): Record<string, number> {
  const quantities: Record<string, number> = {};
  for (const { metric, quantity } of itemsOf(
    rate(expandTemplate({ template_id: template }), JSON.stringify(raw)),
  )) {
    quantities[metric as string] = (quantities[metric as string] ?? 0) + Number(quantity);
  }
  return quantities;
}

const someOf = (quantities: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(quantities).filter(([, quantity]) => quantity !== 0));

/** Recorded responses of providers, where the file exists; the shapes that differ most are repeated below. */
it('charges recorded responses as the SDKs of their providers count them', () => {
  const cases = existsSync(VECTORS)
    ? (JSON.parse(readFileSync(VECTORS, 'utf8')) as { cases: Vector[] }).cases
    : [];
  for (const { o, template, raw, want } of cases)
    expect(someOf(charged(template, raw)), o).toEqual(someOf(want));
});

const chat = (prompt: number, completion: number, total: number | undefined, details: object) => ({
  model: 'm',
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, ...details },
});
const reasoning = (count: number) => ({ completion_tokens_details: { reasoning_tokens: count } });
const cached = (count: number) => ({ prompt_tokens_details: { cached_tokens: count } });

it.each<[string, object, Record<string, number>, string[]]>([
  ['reasoning within', chat(10, 30, 40, reasoning(20)), { input: 10, output: 10, reasoning: 20 }, []],
  [
    'reasoning apart, and less',
    chat(10, 30, 60, reasoning(20)),
    { input: 10, output: 30, reasoning: 20 },
    ['quantity_parts_beside llm.output_tokens'],
  ],
  [
    'reasoning apart, and more',
    chat(10, 3, 33, reasoning(20)),
    { input: 10, output: 3, reasoning: 20 },
    ['quantity_parts_beside llm.output_tokens'],
  ],
  ['no total', chat(10, 30, undefined, reasoning(20)), { input: 10, output: 10, reasoning: 20 }, []],
  [
    'reasoning that is more than the output, unexplained',
    chat(10, 20, 31, reasoning(21)),
    { input: 10, reasoning: 21 },
    ['quantity_clamped llm.output_tokens'],
  ],
  [
    'cached tokens that are more than the prompt',
    chat(10, 30, 52, cached(12)),
    { input: 10, cached_input: 12, output: 30 },
    ['quantity_kept llm.input_tokens'],
  ],
])('reads %s', (_, raw, want, notes) => {
  const metrics = Object.fromEntries(Object.entries(want).map(([name, n]) => [`llm.${name}_tokens`, n]));
  expect(someOf(charged('openai_chat_completions', raw))).toEqual(metrics);
  const rated = rate(expandTemplate({ template_id: 'openai_chat_completions' }), JSON.stringify(raw));
  expect(rated.ok && rated.notes.map(({ code, metric }) => `${code} ${metric}`)).toEqual(notes);
});

it('charges compaction, with and without its lifetimes, and not what another model was asked', () => {
  const usage = {
    ...{ input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 3, cache_read_input_tokens: 4 },
    iterations: [
      {
        ...{ type: 'compaction', input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 40 },
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 25, ephemeral_1h_input_tokens: 5 },
      },
      { type: 'compaction', cache_creation_input_tokens: 300 },
      { type: 'advisor_message', input_tokens: 1000, output_tokens: 1000 },
      { type: 'message', input_tokens: 1, output_tokens: 2 },
    ],
  };
  expect(charged('anthropic_messages', { model: 'm', usage })).toEqual({
    'llm.input_tokens': 11,
    'llm.cached_input_tokens': 44,
    'llm.cache_write_tokens': 328,
    'llm.cache_write_1h_tokens': 5,
    'llm.output_tokens': 22,
  });
});
