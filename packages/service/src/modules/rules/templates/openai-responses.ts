import type { ExtractorTemplate } from '@tollgate/contract';
import { promptSize } from './prompt-size.js';
import { tokenItems, tokens } from './tokens.js';

const INPUT = 'usage.input_tokens_details';
const OUTPUT = 'usage.output_tokens_details';

/** `input_tokens` and `output_tokens` are totals that include cached, written and reasoning tokens. */
export const openaiResponses: ExtractorTemplate = {
  id: 'openai_responses',
  title: 'OpenAI Responses',
  description:
    'Input, cached input, cache write, output and reasoning tokens. Their sum is total_tokens. Calls of built-in tools are entries of output without counts. To charge for them, the gateway counts them and sends x-billing items.',
  payload:
    'The response object. For a stream, send the field response of the event response.completed or, when the stream ended early, of response.incomplete or response.failed.',
  documentation_url: 'https://platform.openai.com/docs/api-reference/responses/object',
  subject: { default_type: 'user', id_path: 'safety_identifier' },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'service_tier', path: 'service_tier', type: 'string' },
    promptSize('usage.input_tokens'),
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', 'usage.input_tokens', {
      less_paths: [`${INPUT}.cached_tokens`, `${INPUT}.cache_write_tokens`],
      on_negative: 'keep',
    }),
    tokens('Cached input tokens', 'llm.cached_input_tokens', `${INPUT}.cached_tokens`),
    tokens('Cache write tokens', 'llm.cache_write_tokens', `${INPUT}.cache_write_tokens`),
    tokens('Output tokens', 'llm.output_tokens', 'usage.output_tokens', {
      less_paths: [`${OUTPUT}.reasoning_tokens`],
    }),
    tokens('Reasoning tokens', 'llm.reasoning_tokens', `${OUTPUT}.reasoning_tokens`),
  ],
  samples: [
    {
      title: 'A response with cache reads, cache writes and reasoning',
      raw_json: {
        id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
        object: 'response',
        created_at: 1741476542,
        status: 'completed',
        error: null,
        model: 'gpt-5.6',
        output: [
          {
            type: 'message',
            id: 'msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'In a peaceful grove…', annotations: [] }],
          },
        ],
        service_tier: 'default',
        usage: {
          input_tokens: 12033,
          input_tokens_details: { cached_tokens: 8192, cache_write_tokens: 3584 },
          output_tokens: 644,
          output_tokens_details: { reasoning_tokens: 512 },
          total_tokens: 12677,
        },
        safety_identifier: 'u-3f1a',
        user: null,
        metadata: {},
      },
      subject: { type: 'user', id: 'u-3f1a' },
      dimensions: { model: 'gpt-5.6', service_tier: 'default', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '257'],
        ['llm.cached_input_tokens', '8192'],
        ['llm.cache_write_tokens', '3584'],
        ['llm.output_tokens', '132'],
        ['llm.reasoning_tokens', '512'],
      ),
    },
    {
      title: 'The response in the last event of a stream',
      raw_json: {
        id: 'resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654',
        object: 'response',
        created_at: 1741290958,
        status: 'completed',
        model: 'gpt-4.1-2025-04-14',
        output: [{ type: 'message', id: 'msg_67c9fdcf37fc', status: 'completed', role: 'assistant' }],
        usage: {
          input_tokens: 37,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 11,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 48,
        },
        safety_identifier: null,
        metadata: {},
      },
      subject: null,
      dimensions: { model: 'gpt-4.1-2025-04-14', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '37'],
        ['llm.cached_input_tokens', '0'],
        ['llm.output_tokens', '11'],
        ['llm.reasoning_tokens', '0'],
      ),
    },
  ],
};
