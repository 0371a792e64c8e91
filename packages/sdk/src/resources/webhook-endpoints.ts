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
import type { CallOptions, PathTransport } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** URLs that are notified of events in a project. `verifyWebhook` checks the messages. */
export class WebhookEndpoints {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /** The response shows the secret; no later response does. */
  create(endpoint: WebhookEndpointInput, options?: CallOptions): Promise<CreatedWebhookEndpoint> {
    return this.#transport.post('/webhook-endpoints', endpoint, options);
  }

  list(page: PageOptions = {}, options?: CallOptions): Promise<WebhookEndpointPage> {
    return this.#transport.get('/webhook-endpoints', page, options);
  }

  get(endpointId: string, options?: CallOptions): Promise<WebhookEndpoint> {
    return this.#transport.get(path`/webhook-endpoints/${endpointId}`, {}, options);
  }

  /** Replaces all fields but the secret, and enables the endpoint again. */
  update(
    endpointId: string,
    endpoint: WebhookEndpointInput,
    options?: CallOptions,
  ): Promise<SavedWebhookEndpoint> {
    return this.#transport.put(path`/webhook-endpoints/${endpointId}`, endpoint, options);
  }

  delete(endpointId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/webhook-endpoints/${endpointId}`, options);
  }

  /**
   * The response shows the new secret; no later response does. For one more day messages are signed with both secrets.
   */
  rotateSecret(endpointId: string, options?: CallOptions): Promise<WebhookEndpointWithSecret> {
    return this.#transport.post(path`/webhook-endpoints/${endpointId}/rotate-secret`, undefined, options);
  }

  /** Sends a message of the type `webhook.test`. */
  test(endpointId: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#transport.post(path`/webhook-endpoints/${endpointId}/test`, undefined, options);
  }

  /** Returns deliveries, the newest message first. */
  deliveries(
    endpointId: string,
    query: WebhookDeliveryListQuery = {},
    options?: CallOptions,
  ): Promise<WebhookDeliveryPage> {
    return this.#transport.get(path`/webhook-endpoints/${endpointId}/deliveries`, query, options);
  }

  /** Returns one delivery with the posted body. */
  delivery(endpointId: string, messageId: string, options?: CallOptions): Promise<WebhookDeliveryDetail> {
    return this.#transport.get(path`/webhook-endpoints/${endpointId}/deliveries/${messageId}`, {}, options);
  }

  redeliver(endpointId: string, messageId: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#transport.post(
      path`/webhook-endpoints/${endpointId}/deliveries/${messageId}/redeliver`,
      undefined,
      options,
    );
  }
}
