export { BatchingIngestClient, type BatchingOptions, type BufferedEvent, type NewEvent } from './batching.js';
export * from './browser.js';
export { systemTiming, type Timing } from './clock.js';
export {
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook-signature.js';
