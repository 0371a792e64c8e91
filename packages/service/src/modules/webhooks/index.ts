export { emit, type WebhookEvent } from './outbox-store.js';
