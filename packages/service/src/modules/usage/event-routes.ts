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

/** Finds the text of the rules that an event was read by; the rules module has it. */
export interface ExtractorTexts {
  /** Undefined when the project has no such version. */
  extractorText(scope: UsageScope, ruleSetId: string, version: number): Promise<ExtractorText | undefined>;
}

export interface EventRouteDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly extractorTexts: ExtractorTexts;
}

const access = { kind: 'project', permission: 'usage:read' } as const;
const Params = Type.Object({ project_id: Type.String() }, closed);
export const EventParams = Type.Object(
  { project_id: Type.String(), raw_event_id: Type.String({ maxLength: IDENTIFIER_CHARS_MAX }) },
  closed,
);

/** The list of processed and failed events, and one of them in detail. */
export function registerEventRoutes(app: App, { clickhouse, extractorTexts }: EventRouteDeps): void {
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
      const rules =
        event.extractor_version === null
          ? undefined
          : await extractorTexts.extractorText(
              request.project,
              event.extractor_rule_set_id,
              event.extractor_version,
            );
      reply.header('content-type', 'application/json; charset=utf-8');
      // Written here, not by the serializer, which would have to parse what was sent and lose digits of its numbers.
      return reply.send(eventDetailJson(event, stored, explainEvent(event, rules)) as never);
    },
  });
}
