import {
  BATCH_BODY_BYTES_MAX,
  BatchIngest,
  BatchIngestAccepted,
  ErrorBodySchema,
  IngestAccepted,
  IngestEvent,
  SINGLE_BODY_BYTES_MAX,
} from '@tollgate/contract';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../platform/http/index.js';
import type { IngestService } from './service.js';

export interface IngestRoutesDeps {
  readonly service: Pick<IngestService, 'acceptSingle' | 'acceptBatch'>;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** `arbitraryText`: raw_json is the client's own. The texts that we use ourselves are checked by the service. */
const config = {
  access: { kind: 'project', permission: 'usage:ingest' },
  arbitraryText: true,
} as const;

/** The ingest operations. Their answers are written by hand: an id needs no escaping. */
export function registerIngestRoutes(app: App, { service }: IngestRoutesDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/extractor-rule-sets/:id/events/ingest',
    config,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    schema: {
      tags: ['Ingest'],
      summary: 'Send one event',
      description: 'Answers once the event is durable. Rating happens afterwards.',
      operationId: 'ingestEvent',
      params: Type.Object({ project_id: Type.String(), id: Type.String() }),
      body: IngestEvent,
      response: { 202: IngestAccepted, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const { project, params, body } = request;
      const id = await service.acceptSingle(project, params.id, body, bytesOf(request));
      reply.code(202).header('content-type', JSON_TYPE);
      return reply.send(`{"raw_event_id":"evt_${id}","status":"received"}` as never);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/events/batch-ingest',
    config,
    bodyLimit: BATCH_BODY_BYTES_MAX,
    schema: {
      tags: ['Ingest'],
      summary: 'Send many events',
      description: 'All are accepted or none is; a failed batch may be sent again as it is.',
      operationId: 'ingestBatch',
      params: Type.Object({ project_id: Type.String() }),
      body: BatchIngest,
      response: { 202: BatchIngestAccepted },
    },
    handler: async (request, reply) => {
      const ids = await service.acceptBatch(request.project, request.body, bytesOf(request));
      reply.code(202).header('content-type', JSON_TYPE);
      const list = `"evt_${ids.join('","evt_')}"`;
      return reply.send(`{"status":"received","count":${ids.length},"raw_event_ids":[${list}]}` as never);
    },
  });
}

function bytesOf(request: Pick<FastifyRequest, 'rawBody'>): Buffer {
  if (request.rawBody === undefined) throw new Error('a validated body without its bytes');
  return request.rawBody;
}
