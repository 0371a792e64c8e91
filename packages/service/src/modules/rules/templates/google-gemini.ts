import type { ExtractorTemplate } from '@tollgate/contract';
import { promptSize } from './prompt-size.js';
import { tokenItems, tokens } from './tokens.js';

const USAGE = 'usageMetadata';

/**
 * `promptTokenCount` includes the cached tokens; tool use, candidates and thoughts are counted in addition to it and to
 * each other. Modalities are counted in lists without a guaranteed order, which a path to one value cannot search, so
 * the sender extracts them.
 */
export const googleGemini: ExtractorTemplate = {
  id: 'google_gemini',
  title: 'Google Gemini generateContent',
  description:
    'Input tokens including tool results, cached input, output and thought tokens. Their sum is totalTokenCount. Audio and images are charged separately if the gateway adds their tokens.',
  payload:
    'The GenerateContentResponse of the Gemini API or of Vertex AI. For a stream, send the last chunk. Where audio or images have prices of their own, the gateway adds, from the lists of usageMetadata: gateway.input_audio_tokens (AUDIO of promptTokensDetails less AUDIO of cacheTokensDetails), gateway.output_audio_tokens and gateway.output_image_tokens (AUDIO and IMAGE of candidatesTokensDetails). Copy labels of a Vertex AI request for its user_id, or send subject_type and subject_id with the event.',
  documentation_url: 'https://ai.google.dev/api/generate-content#UsageMetadata',
  subject: { default_type: 'user', id_path: 'labels.user_id' },
  dimensions: [
    { name: 'model', path: 'modelVersion', type: 'string', required: true },
    { name: 'traffic_type', path: `${USAGE}.trafficType`, type: 'string' },
    promptSize(`${USAGE}.promptTokenCount`, `${USAGE}.toolUsePromptTokenCount`),
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', `${USAGE}.promptTokenCount`, {
      less_paths: [`${USAGE}.cachedContentTokenCount`, 'gateway.input_audio_tokens'],
    }),
    tokens('Tool use input tokens', 'llm.input_tokens', `${USAGE}.toolUsePromptTokenCount`),
    tokens('Cached input tokens', 'llm.cached_input_tokens', `${USAGE}.cachedContentTokenCount`),
    tokens('Audio input tokens', 'llm.input_audio_tokens', 'gateway.input_audio_tokens'),
    tokens('Output tokens', 'llm.output_tokens', `${USAGE}.candidatesTokenCount`, {
      less_paths: ['gateway.output_audio_tokens', 'gateway.output_image_tokens'],
    }),
    tokens('Thought tokens', 'llm.reasoning_tokens', `${USAGE}.thoughtsTokenCount`),
    tokens('Audio output tokens', 'llm.output_audio_tokens', 'gateway.output_audio_tokens'),
    tokens('Image output tokens', 'llm.output_image_tokens', 'gateway.output_image_tokens'),
  ],
  samples: [
    {
      title: 'A response with cached input, thoughts, tool use, and audio added by the gateway',
      raw_json: {
        candidates: [
          {
            content: { parts: [{ text: 'The recording says…' }], role: 'model' },
            finishReason: 'STOP',
            index: 0,
          },
        ],
        usageMetadata: {
          promptTokenCount: 3200,
          cachedContentTokenCount: 2048,
          candidatesTokenCount: 230,
          toolUsePromptTokenCount: 128,
          thoughtsTokenCount: 410,
          totalTokenCount: 3968,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 2560 },
            { modality: 'AUDIO', tokenCount: 640 },
          ],
          cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 2048 }],
        },
        modelVersion: 'gemini-2.5-flash',
        responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
        gateway: { input_audio_tokens: 640 },
        labels: { user_id: 'team-red' },
      },
      subject: { type: 'user', id: 'team-red' },
      dimensions: { model: 'gemini-2.5-flash', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '512'],
        ['llm.input_tokens', '128'],
        ['llm.cached_input_tokens', '2048'],
        ['llm.input_audio_tokens', '640'],
        ['llm.output_tokens', '230'],
        ['llm.reasoning_tokens', '410'],
      ),
    },
    {
      title: 'The last chunk of a stream',
      raw_json: {
        candidates: [{ content: { parts: [{ text: '.' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: 8,
          candidatesTokenCount: 24,
          totalTokenCount: 32,
          trafficType: 'ON_DEMAND',
          promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
        },
        modelVersion: 'gemini-2.5-flash-lite',
      },
      subject: null,
      dimensions: { model: 'gemini-2.5-flash-lite', traffic_type: 'ON_DEMAND', prompt_size: '0' },
      charge_items: tokenItems(['llm.input_tokens', '8'], ['llm.output_tokens', '24']),
    },
    {
      title: 'A response with an image added by the gateway',
      raw_json: {
        candidates: [{ content: { parts: [{ text: 'Here it is.' }], role: 'model' }, finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 12,
          candidatesTokenCount: 1309,
          totalTokenCount: 1321,
          candidatesTokensDetails: [
            { modality: 'TEXT', tokenCount: 19 },
            { modality: 'IMAGE', tokenCount: 1290 },
          ],
        },
        modelVersion: 'gemini-2.5-flash-image',
        gateway: { output_image_tokens: 1290 },
      },
      subject: null,
      dimensions: { model: 'gemini-2.5-flash-image', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '12'],
        ['llm.output_tokens', '19'],
        ['llm.output_image_tokens', '1290'],
      ),
    },
    {
      title: 'Speech output, which is only audio',
      raw_json: {
        candidates: [{ content: { parts: [], role: 'model' }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 14, candidatesTokenCount: 171, totalTokenCount: 185 },
        modelVersion: 'gemini-2.5-flash-preview-tts',
        gateway: { output_audio_tokens: 171 },
      },
      subject: null,
      dimensions: { model: 'gemini-2.5-flash-preview-tts', prompt_size: '0' },
      charge_items: tokenItems(
        ['llm.input_tokens', '14'],
        ['llm.output_tokens', '0'],
        ['llm.output_audio_tokens', '171'],
      ),
    },
  ],
};
