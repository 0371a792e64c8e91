import {
  LimitCrossingPage,
  LimitCrossingsQuery,
  ProjectParams,
  RealtimeCheck,
  RealtimeCheckBody,
  RealtimeLimits,
  RealtimeLimitsQuery,
  SINGLE_BODY_BYTES_MAX,
} from '@tollgate/contract';
import { invalidRequest } from '../../../kernel/errors.js';
import { parseJson } from '../../../kernel/json/json.js';
import { sumOrNone } from '../../../kernel/present.js';
import { type App, pageOf, registerExpressRoute } from '../../../platform/http/index.js';
import { type Amount, amountField } from '../../ledger/index.js';
import { registerLeaseRoutes } from '../leases/routes.js';
import { parsedDimensionTexts } from './parsed-dimension-texts.js';
import type { RealtimeLimitParts } from './realtime.js';
import type { ProposedUsage } from './subject-limits.js';

const config = { access: { kind: 'project', permission: 'usage_control:read' } } as const;
const tags = ['Realtime limits'];

/** The routes of the realtime snapshot, the check and budget leases. */
export function registerRealtimeLimitRoutes(app: App, parts: RealtimeLimitParts): void {
  forgetChanges(app, parts);
  registerReads(app, parts);
  registerCheck(app, parts);
  registerLeaseRoutes(app, parts);
}

const FIRST_ERROR_STATUS = 400;
const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Makes what a request changes of a project, such as a wallet, visible to checks before it is answered. Operations of
 * the express lane, which runs no hooks, forget what they change themselves; most of them, such as checks, change
 * nothing.
 */
function forgetChanges(app: App, { subjectLimits }: RealtimeLimitParts): void {
  app.addHook('onSend', async ({ method, params, routeOptions }, { statusCode }) => {
    const { project_id: projectId } = params as { readonly project_id?: string };
    if (projectId === undefined || READ_METHODS.has(method) || statusCode >= FIRST_ERROR_STATUS) return;
    if (routeOptions.config.express !== undefined) return;
    subjectLimits.usage.forget(projectId);
  });
}

function registerReads(app: App, { subjectLimits, crossings }: RealtimeLimitParts): void {
  registerExpressRoute(app, {
    method: 'GET',
    url: '/v1/projects/:project_id/subject/realtime/limits',
    config,
    schema: {
      tags,
      summary: 'Read the realtime limits of a subject',
      description:
        'Returns every limit of the subject, direct or from its limit plan, with the current window, or with the ' +
        'window that contains the time `at`. A window without usage shows the limit with which it would open. Under ' +
        'normal load, usage is included within a second of the 202 response that accepted it. A subject without a ' +
        'route has no limits. With `levels=all`, the limits of all subjects above are included; `level` says whose ' +
        'limit each is.',
      operationId: 'getRealtimeLimits',
      params: ProjectParams,
      querystring: RealtimeLimitsQuery,
      response: { 200: RealtimeLimits },
    },
    status: 200,
    answer: ({ project, input: query }) =>
      subjectLimits.snapshot(
        project,
        { type: query.subject_type, id: query.subject_id },
        { atS: query.at, levels: query.levels ?? 'own' },
      ),
  });
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/subject/realtime/crossings',
    config,
    schema: {
      tags,
      summary: 'List the recent alerts of a subject',
      description:
        'Returns the limits, and percentages of limits, that the usage of the subject has reached or fallen below ' +
        'again (`usage_limit.recovered`), newest first. They are also sent as webhooks to endpoints that subscribe to them, and are kept for 30 days.',
      operationId: 'listLimitCrossings',
      params: ProjectParams,
      querystring: LimitCrossingsQuery,
      response: { 200: LimitCrossingPage },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const subject = { type: query.subject_type, id: query.subject_id };
      const { items, totalCount } = await crossings.list(project, subject, page);
      return { crossings: items, total_count: totalCount, ...page };
    },
  });
}

function registerCheck(app: App, { subjectLimits }: RealtimeLimitParts): void {
  registerExpressRoute(app, {
    method: 'POST',
    url: '/v1/projects/:project_id/subject/realtime/check',
    config,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    schema: {
      tags,
      summary: 'Check usage before it happens',
      description:
        'Checks every `block` limit of every level that would count the usage. The usage is allowed if used and reserved amounts ' +
        'together are below the limit and, with the requested usage added, do not exceed it. With `currency`, a ' +
        'prepaid wallet also needs an available balance above 0 and at least the requested amount. Without ' +
        '`quantity` and `amount`, the response says whether any more usage is allowed. A check reserves nothing: ' +
        'two concurrent checks may both be allowed. To reserve an amount, create a budget lease. All ' +
        'values are of one moment, at most 250 ms before the request.',
      operationId: 'checkRealtimeLimits',
      params: ProjectParams,
      body: RealtimeCheckBody,
      response: { 200: RealtimeCheck },
    },
    status: 200,
    answer: ({ project, input: body, rawBody }) =>
      subjectLimits.check(
        project,
        { type: body.subject_type, id: body.subject_id },
        askedUsage(body, rawBody),
      ),
  });
}

/** @throws DomainError `invalid_request` */
function askedUsage(body: RealtimeCheckBody, rawBody: Buffer): ProposedUsage {
  if (body.amount !== undefined && body.currency === undefined) {
    throw invalidRequest('currency', 'is required together with amount');
  }
  return {
    metric: body.metric,
    dimensions:
      body.dimensions === undefined ? new Map() : parsedDimensionTexts(fieldsOf(rawBody).dimensions),
    quantity: sumOrNone(body.quantity === undefined ? undefined : notNegative(rawBody, 'quantity')),
    amount: sumOrNone(body.amount === undefined ? undefined : notNegative(rawBody, 'amount')),
    currency: body.currency,
  };
}

function notNegative(rawBody: Buffer, field: string): Amount {
  const amount = amountField(rawBody, field);
  if (amount < 0n) throw invalidRequest(field, 'expected 0 or more');
  return amount;
}

function fieldsOf(rawBody: Buffer): Readonly<Record<string, unknown>> {
  return parseJson(rawBody) as Readonly<Record<string, unknown>>;
}
