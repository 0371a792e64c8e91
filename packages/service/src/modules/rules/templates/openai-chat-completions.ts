import type { ExtractorTemplate } from '@tollgate/contract';
import { promptSize } from './prompt-size.js';
import { tokenItems, tokens } from './tokens.js';

const PROMPT = 'usage.prompt_tokens_details';
const COMPLETION = 'usage.completion_tokens_details';

/**
 * `prompt_tokens` and `completion_tokens` are totals that include cached, written, audio and reasoning tokens. Servers
 * with the same protocol do not all agree: xAI counts reasoning outside `completion_tokens`, as its `total_tokens`
 * shows, and may report more cached tokens than prompt tokens, which then are not included.
 */
export const openaiChatCompletions: ExtractorTemplate = {
  id: 'openai_chat_completions',
  title: 'OpenAI Chat Completions',
  description:
    'Input, cached input, cache write, output and reasoning tokens of text, and input and output audio tokens. Their sum is total_tokens. Accepted and rejected prediction tokens are output tokens.',
  payload:
    'The chat.completion object. For a stream, send the last chunk, which has the usage when the request sets stream_options.include_usage. The response does not name its user: copy the field user of the request into it, or send subject_type and subject_id with the event.',
  documentation_url: 'https://platform.openai.com/docs/api-reference/chat/object',
  subject: { default_type: 'user', id_path: 'user' },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'service_tier', path: 'service_tier', type: 'string' },
    promptSize('usage.prompt_tokens'),
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', 'usage.prompt_tokens', {
      less_paths: [`${PROMPT}.cached_tokens`, `${PROMPT}.cache_write_tokens`, `${PROMPT}.audio_tokens`],
      on_negative: 'keep',
    }),
    tokens('Cached input tokens', 'llm.cached_input_tokens', `${PROMPT}.cached_tokens`),
    tokens('Cache write tokens', 'llm.cache_write_tokens', `${PROMPT}.cache_write_tokens`),
    tokens('Audio input tokens', 'llm.input_audio_tokens', `${PROMPT}.audio_tokens`),
    tokens('Output tokens', 'llm.output_tokens', 'usage.completion_tokens', {
      less_paths: [`${COMPLETION}.reasoning_tokens`, `${COMPLETION}.audio_tokens`],
      stated_total: { path: 'usage.total_tokens', other_paths: ['usage.prompt_tokens'] },
    }),
    tokens('Reasoning tokens', 'llm.reasoning_tokens', `${COMPLETION}.reasoning_tokens`),
    tokens('Audio output tokens', 'llm.output_audio_tokens', `${COMPLETION}.audio_tokens`),
  ],
  samples: [
    {
      title: 'A response of xAI, which counts reasoning separately from output',
      raw_json: {
        id: '0daf962f-a275-4a3c-839a-047854645532',
        object: 'chat.completion',
        model: 'grok-3-mini',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 40,
          completion_tokens: 25,
          total_tokens: 365,
          prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 300, audio_tokens: 0 },
        },
      },
      subject: null,
      dimensions: { model: 'grok-3-mini', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '32'],
        ['llm.cached_input_tokens', '8'],
        ['llm.input_audio_tokens', '0'],
        ['llm.output_tokens', '25'],
        ['llm.reasoning_tokens', '300'],
        ['llm.output_audio_tokens', '0'],
      ),
    },
    {
      title: 'A response with cached input and reasoning',
      raw_json: {
        id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
        object: 'chat.completion',
        created: 1741569952,
        model: 'gpt-5-2025-08-07',
        user: 'user-7',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello! How can I assist you today?', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: {
          prompt_tokens: 2006,
          completion_tokens: 300,
          total_tokens: 2306,
          prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 0, audio_tokens: 0 },
          completion_tokens_details: {
            reasoning_tokens: 192,
            audio_tokens: 0,
            accepted_prediction_tokens: 0,
            rejected_prediction_tokens: 0,
          },
        },
        service_tier: 'default',
      },
      subject: { type: 'user', id: 'user-7' },
      dimensions: { model: 'gpt-5-2025-08-07', service_tier: 'default', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '86'],
        ['llm.cached_input_tokens', '1920'],
        ['llm.cache_write_tokens', '0'],
        ['llm.input_audio_tokens', '0'],
        ['llm.output_tokens', '108'],
        ['llm.reasoning_tokens', '192'],
        ['llm.output_audio_tokens', '0'],
      ),
    },
    {
      title: 'A response with input and output audio',
      raw_json: {
        id: 'chatcmpl-AbCdEf',
        object: 'chat.completion',
        created: 1741569952,
        model: 'gpt-4o-audio-preview-2024-12-17',
        choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 120,
          completion_tokens: 250,
          total_tokens: 370,
          prompt_tokens_details: { cached_tokens: 0, audio_tokens: 100 },
          completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 200 },
        },
        service_tier: null,
      },
      subject: null,
      dimensions: { model: 'gpt-4o-audio-preview-2024-12-17', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '20'],
        ['llm.cached_input_tokens', '0'],
        ['llm.input_audio_tokens', '100'],
        ['llm.output_tokens', '50'],
        ['llm.reasoning_tokens', '0'],
        ['llm.output_audio_tokens', '200'],
      ),
    },
    {
      title: 'The last chunk of a stream',
      raw_json: {
        id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
        object: 'chat.completion.chunk',
        created: 1741570283,
        model: 'gpt-4.1-2025-04-14',
        choices: [],
        usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
      },
      subject: null,
      dimensions: { model: 'gpt-4.1-2025-04-14', prompt_size: '0' },
      charge_items: tokenItems(['llm.input_tokens', '19'], ['llm.output_tokens', '10']),
    },
  ],
};
