import type { ExtractorTemplate } from '@tollgate/contract';
import { promptSize } from './prompt-size.js';
import { tokenItems, tokens } from './tokens.js';

/** Tokens that the API used to compact the conversation; the message's own counts exclude them. */
const COMPACTION = "usage.iterations[?@.type == 'compaction']";

/**
 * `input_tokens` are neither read from nor written to the cache. `cache_creation_input_tokens` is the total of the
 * writes of both lifetimes, `output_tokens` includes thinking.
 */
export const anthropicMessages: ExtractorTemplate = {
  id: 'anthropic_messages',
  title: 'Anthropic Messages',
  description:
    'Uncached input tokens, cache reads, cache writes for five minutes and for one hour, output tokens, thinking tokens if they are reported separately, and web searches.',
  payload:
    'The message object. For a stream, send the final message as the SDKs return it: the message of message_start, with its usage replaced by that of the last message_delta, whose counts are cumulative. Fields that are null there keep their value of message_start. The response does not name its user: copy metadata.user_id of the request into it, or send subject_type and subject_id with the event.',
  documentation_url: 'https://docs.anthropic.com/en/api/messages',
  subject: { default_type: 'user', id_path: 'metadata.user_id' },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'service_tier', path: 'usage.service_tier', type: 'string' },
    { name: 'inference_geo', path: 'usage.inference_geo', type: 'string' },
    promptSize('usage.input_tokens', 'usage.cache_read_input_tokens', 'usage.cache_creation_input_tokens'),
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', 'usage.input_tokens', {
      sum_paths: [`${COMPACTION}.input_tokens`],
    }),
    tokens('Cached input tokens', 'llm.cached_input_tokens', 'usage.cache_read_input_tokens', {
      sum_paths: [`${COMPACTION}.cache_read_input_tokens`],
    }),
    tokens('Cache write tokens, 5 minutes', 'llm.cache_write_tokens', 'usage.cache_creation_input_tokens', {
      sum_paths: [
        `${COMPACTION}.cache_creation.ephemeral_5m_input_tokens`,
        "usage.iterations[?@.type == 'compaction' && !@.cache_creation].cache_creation_input_tokens",
      ],
      less_paths: ['usage.cache_creation.ephemeral_1h_input_tokens'],
    }),
    tokens(
      'Cache write tokens, 1 hour',
      'llm.cache_write_1h_tokens',
      'usage.cache_creation.ephemeral_1h_input_tokens',
      { sum_paths: [`${COMPACTION}.cache_creation.ephemeral_1h_input_tokens`] },
    ),
    tokens('Output tokens', 'llm.output_tokens', 'usage.output_tokens', {
      sum_paths: [`${COMPACTION}.output_tokens`],
      less_paths: ['usage.output_tokens_details.thinking_tokens'],
    }),
    tokens('Thinking tokens', 'llm.reasoning_tokens', 'usage.output_tokens_details.thinking_tokens'),
    {
      name: 'Web searches',
      metric: 'llm.web_search_requests',
      path: 'usage.server_tool_use.web_search_requests',
      type: 'number',
      unit: 'request',
    },
  ],
  samples: [
    {
      title: 'A response with both cache lifetimes, thinking and web searches',
      raw_json: {
        id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5-20250929',
        metadata: { user_id: '13803d75-b4b5-4c3e-b2a2-6f21399b021b' },
        content: [{ type: 'text', text: 'Hi! My name is Claude.', citations: null }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: 2095,
          cache_creation_input_tokens: 4500,
          cache_read_input_tokens: 18000,
          cache_creation: { ephemeral_5m_input_tokens: 3500, ephemeral_1h_input_tokens: 1000 },
          output_tokens: 503,
          output_tokens_details: { thinking_tokens: 203 },
          server_tool_use: { web_search_requests: 2 },
          service_tier: 'standard',
          inference_geo: 'global',
        },
      },
      subject: { type: 'user', id: '13803d75-b4b5-4c3e-b2a2-6f21399b021b' },
      dimensions: {
        model: 'claude-sonnet-4-5-20250929',
        service_tier: 'standard',
        inference_geo: 'global',
        prompt_size: '0',
      },
      charge_items: [
        ...tokenItems(
          ['llm.input_tokens', '2095'],
          ['llm.cached_input_tokens', '18000'],
          ['llm.cache_write_tokens', '3500'],
          ['llm.cache_write_1h_tokens', '1000'],
          ['llm.output_tokens', '300'],
          ['llm.reasoning_tokens', '203'],
        ),
        { metric: 'llm.web_search_requests', unit: 'request', quantity: '2' },
      ],
    },
    {
      title: 'A response whose conversation was compacted on the way',
      raw_json: {
        id: 'msg_01compact',
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-4-6',
        content: [{ type: 'text', text: 'Here is the plan.' }],
        stop_reason: 'end_turn',
        usage: {
          input_tokens: 700,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 1300,
          iterations: [
            {
              type: 'compaction',
              input_tokens: 60000,
              cache_creation_input_tokens: 0,
              cache_read_input_tokens: 0,
              output_tokens: 500,
            },
            { type: 'message', input_tokens: 700, output_tokens: 1300 },
          ],
        },
      },
      subject: null,
      dimensions: { model: 'claude-opus-4-6', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '60700'],
        ['llm.cached_input_tokens', '0'],
        ['llm.cache_write_tokens', '0'],
        ['llm.output_tokens', '1800'],
      ),
    },
    {
      title: 'The final message of a stream',
      raw_json: {
        id: 'msg_4QpJur2dWWDjF6C758FbBw5vm12BaVipnK',
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-4-1-20250805',
        content: [{ type: 'text', text: 'Hello!' }],
        stop_reason: 'end_turn',
        usage: {
          input_tokens: 25,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 15,
          server_tool_use: null,
        },
      },
      subject: null,
      dimensions: { model: 'claude-opus-4-1-20250805', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '25'],
        ['llm.cached_input_tokens', '0'],
        ['llm.cache_write_tokens', '0'],
        ['llm.output_tokens', '15'],
      ),
    },
  ],
};
