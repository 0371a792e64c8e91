export type * from '#contract';
export { BatchingIngestClient, type BatchingOptions, type BufferedEvent, type NewEvent } from './batching.js';
export { TollgateClient } from './client.js';
export { systemTiming, type Timing } from './clock.js';
export { ApiError, ConnectionError } from './errors.js';
export type { ProjectClient } from './project-client.js';
export type { ClientOptions, PageOptions } from './transport.js';
export {
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook-signature.js';
