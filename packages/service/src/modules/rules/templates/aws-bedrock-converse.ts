import type { ExtractorTemplate } from '@tollgate/contract';
import { promptSize } from './prompt-size.js';
import { tokenItems, tokens } from './tokens.js';

/** `inputTokens` are neither read from nor written to the cache. The lifetimes of writes are in a list. */
export const awsBedrockConverse: ExtractorTemplate = {
  id: 'aws_bedrock_converse',
  title: 'Amazon Bedrock Converse',
  description:
    'Uncached input tokens, cache reads, cache writes and output tokens. Writes for one hour are charged separately if the gateway adds their tokens. Bedrock does not report reasoning separately.',
  payload:
    'The response of Converse with modelId from the path of the request, because the response does not name its model. For ConverseStream, send the metadata event with modelId. Where writes for one hour have a price of their own, the gateway adds gateway.cache_write_1h_tokens: inputTokens of the entry of usage.cacheDetails whose ttl is 1h. Copy requestMetadata of the request for its user_id, or send subject_type and subject_id with the event.',
  documentation_url: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
  subject: { default_type: 'user', id_path: 'requestMetadata.user_id' },
  dimensions: [
    { name: 'model', path: 'modelId', type: 'string', required: true },
    { name: 'service_tier', path: 'serviceTier.type', type: 'string' },
    promptSize('usage.inputTokens', 'usage.cacheReadInputTokens', 'usage.cacheWriteInputTokens'),
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', 'usage.inputTokens'),
    tokens('Cached input tokens', 'llm.cached_input_tokens', 'usage.cacheReadInputTokens'),
    tokens('Cache write tokens', 'llm.cache_write_tokens', 'usage.cacheWriteInputTokens', {
      less_paths: ['gateway.cache_write_1h_tokens'],
    }),
    tokens('Cache write tokens, 1 hour', 'llm.cache_write_1h_tokens', 'gateway.cache_write_1h_tokens'),
    tokens('Output tokens', 'llm.output_tokens', 'usage.outputTokens'),
  ],
  samples: [
    {
      title: 'A response that read the cache and wrote to it for both lifetimes',
      raw_json: {
        modelId: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
        requestMetadata: { user_id: 'tenant-12' },
        output: { message: { role: 'assistant', content: [{ text: 'Here is the summary.' }] } },
        stopReason: 'end_turn',
        usage: {
          inputTokens: 30,
          outputTokens: 628,
          totalTokens: 13158,
          cacheReadInputTokens: 11000,
          cacheWriteInputTokens: 1500,
          cacheDetails: [
            { ttl: '1h', inputTokens: 500 },
            { ttl: '5m', inputTokens: 1000 },
          ],
        },
        metrics: { latencyMs: 1275 },
        serviceTier: { type: 'default' },
        gateway: { cache_write_1h_tokens: 500 },
      },
      subject: { type: 'user', id: 'tenant-12' },
      dimensions: {
        model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
        service_tier: 'default',
        prompt_size: '0',
      },
      charge_items: tokenItems(
        ['llm.input_tokens', '30'],
        ['llm.cached_input_tokens', '11000'],
        ['llm.cache_write_tokens', '1000'],
        ['llm.cache_write_1h_tokens', '500'],
        ['llm.output_tokens', '628'],
      ),
    },
    {
      title: 'The metadata event of a stream',
      raw_json: {
        modelId: 'us.amazon.nova-pro-v1:0',
        usage: { inputTokens: 47, outputTokens: 20, totalTokens: 67 },
        metrics: { latencyMs: 100 },
      },
      subject: null,
      dimensions: { model: 'us.amazon.nova-pro-v1:0', prompt_size: '0' },
      charge_items: tokenItems(['llm.input_tokens', '47'], ['llm.output_tokens', '20']),
    },
  ],
};
