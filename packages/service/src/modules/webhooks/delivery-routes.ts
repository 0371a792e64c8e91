import {
  closed,
  ErrorBodySchema,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryListQuery,
  WebhookDeliveryPage,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, contextOf, pageOf } from '../../platform/http/index.js';
import type { WebhookDeliveries } from './deliveries.js';
import type { StoredDelivery } from './delivery-store.js';
import { ENDPOINT_URL, EndpointParams, tags, toRead, toWrite } from './route-parts.js';

const DeliveryParams = Type.Object(
  { ...EndpointParams.properties, message_id: Type.String({ description: 'Message id, `msg_…`.' }) },
  closed,
);

/** Routes of the deliveries of one endpoint, and of messages that are sent by hand. */
export function registerDeliveryRoutes(app: App, deliveries: WebhookDeliveries): void {
  registerReading(app, deliveries);
  registerAsking(app, deliveries);
}

function registerReading(app: App, deliveries: WebhookDeliveries): void {
  app.route({
    method: 'GET',
    url: `${ENDPOINT_URL}/deliveries`,
    config: toRead,
    schema: {
      tags,
      summary: 'List the deliveries to a webhook endpoint',
      description: 'Newest message first. Messages and deliveries are kept for 30 days.',
      operationId: 'listWebhookDeliveries',
      params: EndpointParams,
      querystring: WebhookDeliveryListQuery,
      response: { 200: WebhookDeliveryPage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await deliveries.list(project, params.id, {
        ...page,
        status: query.status,
      });
      return { deliveries: items.map(answerOf), total_count: totalCount, ...page };
    },
  });

  app.route({
    method: 'GET',
    url: `${ENDPOINT_URL}/deliveries/:message_id`,
    config: toRead,
    schema: {
      tags,
      summary: 'Read a delivery',
      description: 'Returns the delivery of one message to this endpoint, with the posted body.',
      operationId: 'getWebhookDelivery',
      params: DeliveryParams,
      response: { 200: WebhookDeliveryDetail },
    },
    handler: async ({ project, params }) => {
      const { delivery, payload } = await deliveries.read(project, params.id, params.message_id);
      return { ...answerOf(delivery), payload };
    },
  });
}

function registerAsking(app: App, deliveries: WebhookDeliveries): void {
  app.route({
    method: 'POST',
    url: `${ENDPOINT_URL}/test`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Test a webhook endpoint',
      description:
        'Queues a message of the type `webhook.test` for this endpoint alone, regardless of its event types. It is delivered like any other message.',
      operationId: 'testWebhookEndpoint',
      params: EndpointParams,
      response: { 202: WebhookDelivery, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const delivery = await deliveries.test(contextOf(request), request.params.id);
      return reply.code(202).send(answerOf(delivery));
    },
  });

  app.route({
    method: 'POST',
    url: `${ENDPOINT_URL}/deliveries/:message_id/redeliver`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Deliver a message again',
      description:
        'Sends the message again, whether it was delivered or not: with the same id and body, a new signature, and all retries.',
      operationId: 'redeliverWebhookMessage',
      params: DeliveryParams,
      response: { 202: WebhookDelivery, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const { id, message_id: messageId } = request.params;
      const delivery = await deliveries.redeliver(contextOf(request), id, messageId);
      return reply.code(202).send(answerOf(delivery));
    },
  });
}

function answerOf(delivery: StoredDelivery): WebhookDelivery {
  const {
    next_attempt_at_ms: nextAttemptAtMs,
    last_attempt_at_ms: lastAttemptAtMs,
    delivered_at_ms: deliveredAtMs,
    created_at_ms: createdAtMs,
    ...same
  } = delivery;
  return {
    ...same,
    next_attempt_at: seconds(nextAttemptAtMs),
    last_attempt_at: seconds(lastAttemptAtMs),
    delivered_at: seconds(deliveredAtMs),
    created_at: Math.floor(createdAtMs / 1_000),
  };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1_000);
}
