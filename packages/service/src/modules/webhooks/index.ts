import { WebhookDeliveries } from './deliveries.js';
import { type EndpointsDeps, WebhookEndpoints } from './endpoints.js';
import type { WebhookRoutesDeps } from './routes.js';

export {
  createWebhookDispatcher,
  type DispatcherDeps,
  type DispatcherOptions,
  type WebhookDispatcher,
} from './dispatcher.js';
export type { EventsOfRules } from './endpoints.js';
export { emit, emitToTenant, eventsSent, listMessagesAbout, type WebhookEvent } from './outbox-store.js';
export { registerWebhookRoutes } from './routes.js';
export { createSender, type Send, type SenderOptions } from './sender.js';

/** Creates the services that the routes of webhooks need. */
export function createWebhooks(deps: EndpointsDeps): WebhookRoutesDeps {
  return { endpoints: new WebhookEndpoints(deps), deliveries: new WebhookDeliveries(deps) };
}
