import type {
  CreatedWebhookEndpoint,
  SavedWebhookEndpoint,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryListQuery,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointInput,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Addresses that are notified of what happens in a project. `verifyWebhook` checks the messages. */
export class WebhookEndpoints {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  /** The response shows the secret; no later response does. */
  create(endpoint: WebhookEndpointInput): Promise<CreatedWebhookEndpoint> {
    return this.#transport.post('/webhook-endpoints', endpoint);
  }

  list(page: PageOptions = {}): Promise<WebhookEndpointPage> {
    return this.#transport.get('/webhook-endpoints', page);
  }

  get(endpointId: string): Promise<WebhookEndpoint> {
    return this.#transport.get(path`/webhook-endpoints/${endpointId}`);
  }

  /** Replaces all but the secret, and enables the endpoint again. */
  update(endpointId: string, endpoint: WebhookEndpointInput): Promise<SavedWebhookEndpoint> {
    return this.#transport.put(path`/webhook-endpoints/${endpointId}`, endpoint);
  }

  delete(endpointId: string): Promise<void> {
    return this.#transport.delete(path`/webhook-endpoints/${endpointId}`);
  }

  /** The response shows the new secret; no later response does. For one more day messages are signed with both. */
  rotateSecret(endpointId: string): Promise<WebhookEndpointWithSecret> {
    return this.#transport.post(path`/webhook-endpoints/${endpointId}/rotate-secret`);
  }

  /** Sends a message of the type `webhook.test`. */
  test(endpointId: string): Promise<WebhookDelivery> {
    return this.#transport.post(path`/webhook-endpoints/${endpointId}/test`);
  }

  /** Newest message first. */
  deliveries(endpointId: string, query: WebhookDeliveryListQuery = {}): Promise<WebhookDeliveryPage> {
    return this.#transport.get(path`/webhook-endpoints/${endpointId}/deliveries`, query);
  }

  /** One delivery with the body that is posted. */
  delivery(endpointId: string, messageId: string): Promise<WebhookDeliveryDetail> {
    return this.#transport.get(path`/webhook-endpoints/${endpointId}/deliveries/${messageId}`);
  }

  redeliver(endpointId: string, messageId: string): Promise<WebhookDelivery> {
    return this.#transport.post(path`/webhook-endpoints/${endpointId}/deliveries/${messageId}/redeliver`);
  }
}
