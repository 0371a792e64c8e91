import {
  closed,
  EVENT_WAITS_PER_KEY_MAX,
  IDENTIFIER_CHARS_MAX,
  type PricingConfig,
  ProjectParams,
  type UnpricedItem,
  type UsageEvent,
  UsageEventDetail,
  UsageEventFilters,
  UsageEventList,
  UsageEventQuery,
  UsageEventsQuery,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { DomainError } from '../../kernel/errors.js';
import { parseRawEventId } from '../../kernel/id.js';
import { parseLossless } from '../../kernel/json/json.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type App, embeddedJson, Slots } from '../../platform/http/index.js';
import { ProjectHistory, type UsageHistory } from '../storage/index.js';
import { eventDetailJson, lookUpUntil } from './event-detail.js';
import { withConditions } from './event-filter.js';
import { listEvents } from './event-list.js';
import { eventDetail, type StoredInput, type UsageScope } from './event-store.js';
import { toUsageEvent } from './event-view.js';
import {
  type AnswerRules,
  type ExtractorText,
  explainEventWith,
  type FindUnpriced,
  type RatedBy,
} from './explain.js';
import { type CorrectionAuthors, revisionsJson } from './revisions.js';

type RuleScope = Pick<UsageScope, 'tenantId' | 'projectId'>;

/** Reads the rules by which events were read; implemented by the rules module. */
export interface ExtractorVersions {
  /** A version that has read an event is never changed or deleted. Throws when the project has no such version. */
  read(scope: RuleScope, ruleSetId: string, version: number): Promise<ExtractorText>;
}

/** Reads the rules that charge items were priced by. */
export interface PricingVersions {
  /** The same as {@link ExtractorVersions.read}, for pricing. */
  read(scope: RuleScope, ruleSetId: string, version: number): Promise<{ readonly config: PricingConfig }>;
}

export interface EventRouteDeps {
  readonly clickhouse: Pick<ClickHouse, 'query' | 'exportRowsUpTo'>;
  readonly history: UsageHistory;
  readonly extractorVersions: ExtractorVersions;
  readonly pricingVersions: PricingVersions;
  readonly answerRules: AnswerRules;
  readonly findUnpriced: FindUnpriced;
  readonly correctionAuthors: CorrectionAuthors;
}

/** Upper bound of the requests in one process that wait for events. */
const EVENT_WAITS_MAX = 200;

const access = { kind: 'project', permission: 'usage:read' } as const;
/** Reads the filters in a query string, which are JSON. */
export const readFilters = embeddedJson(UsageEventFilters);
export const EventParams = Type.Object(
  {
    ...ProjectParams.properties,
    raw_event_id: Type.String({
      maxLength: IDENTIFIER_CHARS_MAX,
      description: 'Raw event id, `evt_…`, as ingest returned it.',
    }),
  },
  closed,
);

/** Registers the list of processed and failed events, and the details of one of them. */
export function registerEventRoutes(app: App, deps: EventRouteDeps): void {
  registerEventList(app, deps);
  registerEventDetail(app, deps);
}

function registerEventList(app: App, { clickhouse, history }: EventRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/events',
    config: { access },
    schema: {
      tags: ['Usage'],
      summary: 'List usage events',
      description:
        'Returns processed and failed events, newest first by `occurred_at`. An event is listed once it is rated.',
      operationId: 'listUsageEvents',
      params: ProjectParams,
      querystring: UsageEventsQuery,
      response: { 200: UsageEventList },
    },
    handler: async (request) => {
      const query = withConditions(request.query, readFilters);
      return listEvents(clickhouse, await history.scopeOf(request.project), query);
    },
  });
}

function registerEventDetail(app: App, deps: EventRouteDeps): void {
  const { clickhouse, history } = deps;
  const waits = new Slots({
    what: 'reads that wait for an event',
    perKeyMax: EVENT_WAITS_PER_KEY_MAX,
    totalMax: EVENT_WAITS_MAX,
  });
  app.addHook('preClose', async () => waits.end());
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/events/:raw_event_id',
    config: { access },
    schema: {
      tags: ['Usage'],
      summary: 'Read a usage event',
      description:
        'Returns the event as it was sent, and how each number was calculated. With `wait_seconds`, the request ' +
        'can follow right after the event was accepted.',
      operationId: 'getUsageEvent',
      params: EventParams,
      querystring: UsageEventQuery,
      response: { 200: UsageEventDetail },
    },
    handler: async (request, reply) => {
      const id = parseRawEventId(request.params.raw_event_id);
      const scope = await history.scopeOf(request.project);
      const waitMs = (request.query.wait_seconds ?? 0) * 1_000;
      const own = new ProjectHistory(clickhouse, scope);
      const lookUp = async () => (id === undefined ? undefined : eventDetail(own, id));
      const wait = async () => {
        const signal = waits.take(request.principal, reply);
        const found = await lookUpUntil(lookUp, { waitMs, signal });
        if (found === undefined && signal.aborted) throw new DomainError('shutting_down');
        // A key that was revoked meanwhile cannot read anything any more.
        if (!(await app.isStillAllowed(request))) throw new DomainError('unauthenticated');
        return found;
      };
      const stored = waitMs === 0 || id === undefined ? await lookUp() : await wait();
      if (stored === undefined) throw new DomainError('not_found');
      const event = toUsageEvent(stored);
      const ratedBy = await readRatedBy(deps, scope, event, stored.x_billing);
      const unpriced = await unpricedOf(deps, scope, stored, event, ratedBy);
      const explained = await explainEventWith(event, ratedBy, (questions) =>
        deps.answerRules(scope, questions),
      );
      const revisions = await revisionsJson(own, stored, (ids) =>
        deps.correctionAuthors(request.project, ids),
      );
      reply.header('content-type', 'application/json; charset=utf-8');
      // Written here, not by the serializer, which would have to parse the sent JSON and lose digits of its numbers.
      return reply.send(eventDetailJson(event, stored, explained, unpriced, revisions) as never);
    },
  });
}

/** Skips events whose items all have a price, which are nearly all. */
async function unpricedOf(
  { findUnpriced }: EventRouteDeps,
  scope: UsageScope,
  stored: StoredInput,
  { failure, charge_items: items }: UsageEvent,
  { extractor }: Pick<RatedBy, 'extractor'>,
): Promise<readonly UnpricedItem[]> {
  const isUnpriced =
    failure?.code === 'unpriced' || items.some(({ pricing_source: source }) => source === 'unpriced');
  if (!isUnpriced || extractor === undefined) return [];
  return findUnpriced(scope, stored, extractor.config);
}

/** Returns the texts of the rules that rated the event; each is read once. */
async function readRatedBy(
  { extractorVersions, pricingVersions }: EventRouteDeps,
  scope: UsageScope,
  event: UsageEvent,
  billing: string,
): Promise<Omit<RatedBy, 'answerRule'>> {
  const { extractor_rule_set_id: ruleSetId, extractor_version: version } = event;
  const extractor = version === null ? undefined : await extractorVersions.read(scope, ruleSetId, version);
  const pricings = new Map<string, PricingConfig>();
  const read = async (id: string | null, pricingVersion: number | null) => {
    const key = `${id} ${pricingVersion}`;
    if (id === null || pricingVersion === null || pricings.has(key)) return;
    pricings.set(key, (await pricingVersions.read(scope, id, pricingVersion)).config);
  };
  for (const item of event.charge_items) {
    if (item.pricing_source === 'pricing_rule_set') await read(item.rule_set_id, item.rule_set_version);
    if (item.cost !== null) await read(item.cost.pricing_rule_set_id, item.cost.version);
  }
  return {
    extractor,
    pricing: (id, pricingVersion) => pricings.get(`${id} ${pricingVersion}`),
    billing: billing === '' ? undefined : parseLossless(billing),
  };
}
