import {
  closed,
  IDENTIFIER_CHARS_MAX,
  UsageEventDetail,
  UsageEventList,
  UsageEventsQuery,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { parseRawEventId } from '../../kernel/id.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { ApiError, type App } from '../../platform/http/index.js';
import { eventDetailJson } from './event-detail.js';
import { listEvents } from './event-list.js';
import type { UsageScope } from './event-store.js';
import { eventDetail } from './event-store.js';
import { toUsageEvent } from './event-view.js';
import { type ExtractorText, explainEvent } from './explain.js';

/** Reads the rules that events were read by; the rules module has them. */
export interface ExtractorVersions {
  /** A version that has read an event is never changed or deleted. Throws when the project has no such version. */
  read(scope: UsageScope, ruleSetId: string, version: number): Promise<ExtractorText>;
}

export interface EventRouteDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly extractorVersions: ExtractorVersions;
}

const access = { kind: 'project', permission: 'usage:read' } as const;
const Params = Type.Object({ project_id: Type.String() }, closed);
export const EventParams = Type.Object(
  { project_id: Type.String(), raw_event_id: Type.String({ maxLength: IDENTIFIER_CHARS_MAX }) },
  closed,
);

/** The list of processed and failed events, and one of them in detail. */
export function registerEventRoutes(app: App, { clickhouse, extractorVersions }: EventRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/events',
    config: { access },
    schema: {
      tags: ['Usage'],
      summary: 'List usage events',
      description:
        'Processed and failed events, newest first by `occurred_at`. An accepted event shows once it is rated.',
      operationId: 'listUsageEvents',
      params: Params,
      querystring: UsageEventsQuery,
      response: { 200: UsageEventList },
    },
    handler: (request) => listEvents(clickhouse, request.project, request.query),
  });
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/events/:raw_event_id',
    config: { access },
    schema: {
      tags: ['Usage'],
      summary: 'Read a usage event',
      description: 'The event, what was sent, and how each number came about.',
      operationId: 'getUsageEvent',
      params: EventParams,
      response: { 200: UsageEventDetail },
    },
    handler: async (request, reply) => {
      const id = parseRawEventId(request.params.raw_event_id);
      const stored = id === undefined ? undefined : await eventDetail(clickhouse, request.project, id);
      if (stored === undefined) throw new ApiError('not_found');
      const event = toUsageEvent(stored);
      const { extractor_rule_set_id: ruleSetId, extractor_version: version } = event;
      const rules =
        version === null ? undefined : await extractorVersions.read(request.project, ruleSetId, version);
      reply.header('content-type', 'application/json; charset=utf-8');
      // Written here, not by the serializer, which would have to parse what was sent and lose digits of its numbers.
      return reply.send(eventDetailJson(event, stored, explainEvent(event, rules)) as never);
    },
  });
}
