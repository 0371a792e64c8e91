import type { ExtractorConfig, ExtractorRuleSetInput, ExtractorTemplate } from '@tollgate/contract';
import { invalidRequest } from '../../../kernel/errors.js';
import { anthropicMessages } from './anthropic-messages.js';
import { awsBedrockConverse } from './aws-bedrock-converse.js';
import { computeSeconds } from './compute-seconds.js';
import { googleGemini } from './google-gemini.js';
import { httpRequests } from './http-requests.js';
import { objectStorage } from './object-storage.js';
import { openaiChatCompletions } from './openai-chat-completions.js';
import { openaiResponses } from './openai-responses.js';

/** Ready-made extraction for well-known payloads. It has no prices, because those differ by model, and change. */
export const TEMPLATES: readonly ExtractorTemplate[] = [
  openaiChatCompletions,
  openaiResponses,
  anthropicMessages,
  googleGemini,
  awsBedrockConverse,
  httpRequests,
  objectStorage,
  computeSeconds,
];

/**
 * Returns the rules of an input, with the template's value for each field that the input does not have. A field is
 * taken as a whole: dimensions of the input replace the template's, they are not merged.
 *
 * @throws DomainError `invalid_request` for a template that does not exist, naming those that do.
 */
export function expandTemplate(input: ExtractorRuleSetInput): ExtractorConfig {
  const template = input.template_id === undefined ? undefined : templateOf(input.template_id);
  const subject = input.subject ?? template?.subject;
  const dimensions = input.dimensions ?? template?.dimensions;
  const chargeItems = input.charge_item_extractors ?? template?.charge_item_extractors;
  const onUnpriced = input.on_unpriced ?? template?.on_unpriced;
  return {
    ...(subject === undefined ? {} : { subject }),
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(chargeItems === undefined ? {} : { charge_item_extractors: chargeItems }),
    ...(onUnpriced === undefined ? {} : { on_unpriced: onUnpriced }),
  };
}

function templateOf(id: string): ExtractorTemplate {
  const template = TEMPLATES.find((candidate) => candidate.id === id);
  if (template !== undefined) return template;
  const known = TEMPLATES.map((candidate) => candidate.id).join(', ');
  throw invalidRequest('template_id', `expected one of ${known}`);
}
