import { closed, ProjectParams } from '@tollgate/contract';
import { Type } from 'typebox';

/** Parts that all routes of webhooks share. */
export const ENDPOINTS_URL = '/v1/projects/:project_id/webhook-endpoints';
export const ENDPOINT_URL = `${ENDPOINTS_URL}/:id`;
export const tags = ['Webhooks'];
export const toRead = { access: { kind: 'project', permission: 'webhooks:read' } } as const;
export const toWrite = { access: { kind: 'project', permission: 'webhooks:write' } } as const;

export const EndpointParams = Type.Object(
  { ...ProjectParams.properties, id: Type.String({ description: 'Endpoint id, `whe_…`.' }) },
  closed,
);
