import {
  BATCH_BODY_BYTES_MAX,
  BatchIngest,
  BatchIngestAccepted,
  ErrorBodySchema,
  IngestAccepted,
  IngestEvent,
  ProjectParams,
  SINGLE_BODY_BYTES_MAX,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, registerExpressRoute } from '../../platform/http/index.js';
import type { IngestService } from './service.js';

export interface IngestRoutesDeps {
  readonly service: Pick<IngestService, 'acceptSingle' | 'acceptBatch' | 'checkRoom'>;
}

/** `arbitraryText`: raw_json belongs to the client. The service checks the texts that it uses itself. */
const config = {
  access: { kind: 'project', permission: 'usage:ingest' },
  arbitraryText: true,
  unread: 'raw_json',
} as const;

/** Registers the ingest operations. Their responses are written by hand, because ids need no escaping. */
export function registerIngestRoutes(app: App, { service }: IngestRoutesDeps): void {
  registerExpressRoute(app, {
    method: 'POST',
    url: '/v1/projects/:project_id/extractor-rule-sets/:id/events/ingest',
    config,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    schema: {
      tags: ['Ingest'],
      summary: 'Send one event',
      description:
        'Returns once the event is on disk; it is rated afterwards. Every accepted request counts against the ' +
        'event quota of the tenant, repeated ones too.',
      operationId: 'ingestEvent',
      params: Type.Object({
        ...ProjectParams.properties,
        id: Type.String({ description: 'Id of a published extractor rule set.' }),
      }),
      body: IngestEvent,
      response: { 202: IngestAccepted, 409: ErrorBodySchema },
    },
    status: 202,
    precheck: (project) => service.checkRoom(project),
    async answer({ project, params, input: body, rawBody, span }) {
      const id = await service.acceptSingle(project, params.id, body, rawBody, span);
      return `{"raw_event_id":"evt_${id}","status":"received"}`;
    },
  });

  registerExpressRoute(app, {
    method: 'POST',
    url: '/v1/projects/:project_id/events/batch-ingest',
    config,
    bodyLimit: BATCH_BODY_BYTES_MAX,
    schema: {
      tags: ['Ingest'],
      summary: 'Send many events',
      description:
        'Accepts all events or none; a refused batch can be sent again unchanged. Every event of an accepted batch ' +
        'counts against the event quota of the tenant, repeated ones too.',
      operationId: 'ingestBatch',
      params: ProjectParams,
      body: BatchIngest,
      response: { 202: BatchIngestAccepted },
    },
    status: 202,
    precheck: (project) => service.checkRoom(project),
    async answer({ project, input: body, rawBody, span }) {
      const ids = await service.acceptBatch(project, body, rawBody, span);
      const list = `"evt_${ids.join('","evt_')}"`;
      return `{"status":"received","count":${ids.length},"raw_event_ids":[${list}]}`;
    },
  });
}
