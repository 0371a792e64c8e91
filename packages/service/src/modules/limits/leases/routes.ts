import {
  BudgetLease,
  BudgetLeaseList,
  BudgetLeaseListQuery,
  CreatedBudgetLease,
  CreateLeaseBody,
  closed,
  ErrorBodySchema,
  OptionalIdempotencyKeyHeaders,
  PageQuery,
  ProjectParams,
  RenewLeaseBody,
  SINGLE_BODY_BYTES_MAX,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, pageOf, registerExpressRoute } from '../../../platform/http/index.js';
import { noRoute } from '../check/limit-status.js';
import type { LimitAdmission } from '../rules/admission.js';
import { leaseInput } from './lease-input.js';
import type { Leases } from './leases.js';

export interface LeaseRouteDeps {
  readonly leases: Leases;
  readonly admission: Pick<LimitAdmission, 'admitBudgetLease'>;
}

const tags = ['Budget leases'];
const toRead = { access: { kind: 'project', permission: 'usage_control:read' } } as const;
/** A client that reports usage also reserves amounts for it. */
const toIngest = { access: { kind: 'project', permission: 'usage:ingest' } } as const;
const url = '/v1/projects/:project_id/budget-leases';
const OneParams = Type.Object(
  { ...ProjectParams.properties, id: Type.String({ description: 'Budget lease id, `bl_…`.' }) },
  closed,
);

/** Registers the routes of budget leases. */
export function registerLeaseRoutes(app: App, deps: LeaseRouteDeps): void {
  registerCreation(app, deps);
  registerChanges(app, deps);
  registerReads(app, deps);
}

function registerCreation(app: App, { leases, admission }: LeaseRouteDeps): void {
  registerExpressRoute(app, {
    method: 'POST',
    url,
    config: toIngest,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    schema: {
      tags,
      summary: 'Create a budget lease',
      description:
        'Reserves the amount in the prepaid wallet and in every `block` limit on amounts of the currency that ' +
        'selects all usage or the metric of the lease: in all of them, or in none. `holds` reserves several amounts ' +
        'and quantities so; a quantity is reserved in every `block` limit on quantities that selects its metric. ' +
        'Limits on a dimension are among them if `dimensions` has a value that they select. 409 ' +
        '`limit_exceeded` lists each limit that would be exceeded in `details`, with the used, reserved and ' +
        'requested amounts. 409 `unknown_subject` refuses a subject without a route, if the project denies such ' +
        'subjects. 409 `insufficient_funds` names the wallet and its available amount. If the subject has ' +
        'neither such a limit nor a prepaid wallet, the lease is created and reserves nothing; `warnings` lists a ' +
        'subject without a route. A lease stays reserved in the next window. The cost of events that have its id ' +
        'in `x-usage-control.budget_lease_id`, or their quantity, moves from reserved to used. ' +
        'With `parent_lease_id`, the lease is a part of another one: 409 `lease_exceeded` if that has less left, ' +
        '409 `lease_not_active` if it has ended.',
      operationId: 'createBudgetLease',
      params: ProjectParams,
      headers: OptionalIdempotencyKeyHeaders,
      body: CreateLeaseBody,
      response: { 201: CreatedBudgetLease, 409: ErrorBodySchema },
    },
    status: 201,
    answer: async ({ project, input: body, rawBody, idempotencyKey }) => {
      await admission.admitBudgetLease(project.tenantId);
      const input = leaseInput(body, rawBody);
      const lease = await leases.create(project, input, idempotencyKey);
      const warnings = lease.account_id === null ? [noRoute(input.subject)] : [];
      return { ...lease, warnings };
    },
  });
}

function registerChanges(app: App, { leases }: LeaseRouteDeps): void {
  registerExpressRoute(app, {
    method: 'POST',
    url: `${url}/:id/close`,
    config: toIngest,
    schema: {
      tags,
      summary: 'Close a budget lease',
      description:
        'Releases what the lease still reserves, or gives it back to its parent lease. Ends the leases that are a part ' +
        'of it. A lease that has ended stays as it is.',
      operationId: 'closeBudgetLease',
      params: OneParams,
      response: { 200: BudgetLease },
    },
    status: 200,
    answer: ({ project, params }) => leases.close(project, params.id),
  });
  registerExpressRoute(app, {
    method: 'POST',
    url: `${url}/:id/renew`,
    config: toIngest,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    schema: {
      tags,
      summary: 'Renew a budget lease',
      description:
        'Sets `expires_at` to `ttl_seconds` from now, or to the end of its parent lease, if that is earlier; no part of it ' +
        'lives longer. The lease keeps what it holds. 409 `lease_not_active` if it has ended.',
      operationId: 'renewBudgetLease',
      params: OneParams,
      body: RenewLeaseBody,
      response: { 200: BudgetLease, 409: ErrorBodySchema },
    },
    status: 200,
    answer: ({ project, params, input }) => leases.renew(project, params.id, input.ttl_seconds),
  });
}

function registerReads(app: App, { leases }: LeaseRouteDeps): void {
  app.route({
    method: 'GET',
    url,
    config: toRead,
    schema: {
      tags,
      summary: 'List the budget leases of a subject',
      description: 'Newest first.',
      operationId: 'listBudgetLeases',
      params: ProjectParams,
      querystring: BudgetLeaseListQuery,
      response: { 200: BudgetLeaseList },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const subject = { type: query.subject_type, id: query.subject_id };
      const { items, totalCount } = await leases.list(project, { subject, status: query.status }, page);
      return { budget_leases: items, total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: toRead,
    schema: {
      tags,
      summary: 'Read a budget lease',
      description: 'Returns the lease with its used amount and its remaining reserved amount.',
      operationId: 'getBudgetLease',
      params: OneParams,
      response: { 200: BudgetLease },
    },
    handler: ({ project, params }) => leases.get(project, params.id),
  });
  app.route({
    method: 'GET',
    url: `${url}/:id/tree`,
    config: toRead,
    schema: {
      tags,
      summary: 'List the leases of a tree',
      description:
        'Returns the lease at the top of the tree to which a lease belongs, and all active leases that are parts of it, ' +
        'directly or through others; also the lease itself and those that it is a part of, if they have ended. ' +
        'Leases of a higher level come first, then older ones, so every lease follows the one that it is a part of. ' +
        'What the leases have remaining adds up to what the whole tree still reserves.',
      operationId: 'getBudgetLeaseTree',
      params: OneParams,
      querystring: PageQuery,
      response: { 200: BudgetLeaseList },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await leases.tree(project, params.id, page);
      return { budget_leases: items, total_count: totalCount, ...page };
    },
  });
}
