import {
  CreatedWebhookEndpoint,
  ErrorBodySchema,
  noContent,
  PageQuery,
  ProjectParams,
  SavedWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointInput,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from '@tollgate/contract';
import { type App, contextOf, pageOf } from '../../platform/http/index.js';
import type { WebhookDeliveries } from './deliveries.js';
import { registerDeliveryRoutes } from './delivery-routes.js';
import type { StoredEndpoint } from './endpoint-store.js';
import type { WebhookEndpoints, WithSecret } from './endpoints.js';
import { ENDPOINT_URL, ENDPOINTS_URL, EndpointParams, tags, toRead, toWrite } from './route-parts.js';

export interface WebhookRoutesDeps {
  readonly endpoints: WebhookEndpoints;
  readonly deliveries: WebhookDeliveries;
}

/** Registers the routes of endpoints, their deliveries, tests and redeliveries. */
export function registerWebhookRoutes(app: App, { endpoints, deliveries }: WebhookRoutesDeps): void {
  registerCollection(app, endpoints);
  registerOne(app, endpoints);
  registerRotation(app, endpoints);
  registerDeliveryRoutes(app, deliveries);
}

function registerCollection(app: App, endpoints: WebhookEndpoints): void {
  app.route({
    method: 'POST',
    url: ENDPOINTS_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Create a webhook endpoint',
      description:
        'Creates an endpoint. From now on, messages about the listed events are posted to its URL, signed as ' +
        'https://www.standardwebhooks.com specifies.',
      operationId: 'createWebhookEndpoint',
      params: ProjectParams,
      body: WebhookEndpointInput,
      response: { 201: CreatedWebhookEndpoint, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const warnings = await endpoints.warningsAbout(request.project, request.body);
      const created = await endpoints.create(contextOf(request), request.body);
      return reply.code(201).send({ ...withSecret(created), warnings });
    },
  });

  app.route({
    method: 'GET',
    url: ENDPOINTS_URL,
    config: toRead,
    schema: {
      tags,
      summary: 'List webhook endpoints',
      description: 'Returns the endpoints newest first, without their secrets.',
      operationId: 'listWebhookEndpoints',
      params: ProjectParams,
      querystring: PageQuery,
      response: { 200: WebhookEndpointPage },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await endpoints.list(project, page);
      return { webhook_endpoints: items.map(answerOf), total_count: totalCount, ...page };
    },
  });
}

function registerOne(app: App, endpoints: WebhookEndpoints): void {
  app.route({
    method: 'GET',
    url: ENDPOINT_URL,
    config: toRead,
    schema: {
      tags,
      summary: 'Read a webhook endpoint',
      description: 'Returns the endpoint without its secret.',
      operationId: 'getWebhookEndpoint',
      params: EndpointParams,
      response: { 200: WebhookEndpoint },
    },
    handler: async ({ project, params }) => answerOf(await endpoints.read(project, params.id)),
  });

  app.route({
    method: 'PUT',
    url: ENDPOINT_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Replace a webhook endpoint',
      description:
        'Replaces everything but the secret, and enables the endpoint again. Pending deliveries go to the new URL; cancelled ones stay cancelled.',
      operationId: 'updateWebhookEndpoint',
      params: EndpointParams,
      body: WebhookEndpointInput,
      response: { 200: SavedWebhookEndpoint },
    },
    handler: async (request) => {
      const warnings = await endpoints.warningsAbout(request.project, request.body);
      const saved = await endpoints.update(contextOf(request), request.params.id, request.body);
      return { ...answerOf(saved), warnings };
    },
  });

  app.route({
    method: 'DELETE',
    url: ENDPOINT_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Delete a webhook endpoint',
      description: 'Deletes the endpoint and its deliveries; a message that is being sent may still arrive.',
      operationId: 'deleteWebhookEndpoint',
      params: EndpointParams,
      response: { 204: noContent('The webhook endpoint is deleted.') },
    },
    handler: async (request, reply) => {
      await endpoints.delete(contextOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  });
}

function registerRotation(app: App, endpoints: WebhookEndpoints): void {
  app.route({
    method: 'POST',
    url: `${ENDPOINT_URL}/rotate-secret`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'Creates a new secret and returns it. Until `previous_secret_valid_until`, messages are signed with both ' +
        'secrets. Another rotation before then removes the older secret at once.',
      operationId: 'rotateWebhookSecret',
      params: EndpointParams,
      response: { 200: WebhookEndpointWithSecret },
    },
    handler: async (request) =>
      withSecret(await endpoints.rotateSecret(contextOf(request), request.params.id)),
  });
}

function answerOf({ previous_secret_until: until, ...endpoint }: StoredEndpoint): WebhookEndpoint {
  return {
    ...endpoint,
    status: endpoint.disabled_at === null ? 'enabled' : 'disabled',
    previous_secret_valid_until: until,
  };
}

function withSecret({ endpoint, secret }: WithSecret) {
  return { ...answerOf(endpoint), secret };
}
