import { type CreateSubjectRouteBody, NAME_CHARS_MAX, type UpdateSubjectRouteBody } from '@tollgate/contract';
import { isTimezone } from '@tollgate/timezone';
import type { ChangeContext } from '../../../../kernel/change-context.js';
import { DomainError, invalidRequest } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/id.js';
import type { Page } from '../../../../kernel/page.js';
import type { ProjectScope } from '../../../../kernel/scope.js';
import { ProjectDb, type ProjectTx, TenantDb, type Tx } from '../../../../platform/postgres/index.js';
import { findAccount, openAccount } from '../../../ledger/index.js';
import { countSubjectRoutes } from '../allowance-store.js';
import { changeLimits, type LimitChange, type LimitDeps } from '../change.js';
import { currentPlanIdOf, planIdOf } from '../plans/plan-id.js';
import { findPlan } from '../plans/store.js';
import { parentFields, refuseOrphans, refuseWrongChain } from './parents.js';
import * as store from './store.js';

/** Subject routes: which account and limit plan a subject has. See README.md. */
export class SubjectRouteService {
  readonly #deps: LimitDeps;

  constructor(deps: LimitDeps) {
    this.#deps = deps;
  }

  /**
   * Creates a route. Without an account id and a parent, an account is opened in the same transaction.
   *
   * @throws DomainError `invalid_request`, also for an unknown account, plan or parent; `plan_not_published`,
   * `subject_route_exists`, `subject_cycle`, `subject_too_deep`, `entitlement_limit_reached`.
   */
  create(context: ChangeContext, body: CreateSubjectRouteBody): Promise<store.RouteRow> {
    const timezone = checkedTimezone(body.timezone ?? 'UTC');
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const { project } = context;
      const now = Math.floor(atMs / 1_000);
      const planId = await planToBind(tx, body.usage_limit_plan_id ?? null);
      if (planId !== null) await refuseUnbindable(tx, planId);
      await refuseTaken(tx, body, undefined);
      const { tenantId } = project;
      await this.#deps.admission.admitSubjectRoutes(plainTx, tenantId, 1, () =>
        countSubjectRoutes(new TenantDb(plainTx, tenantId)),
      );
      const route: store.RouteRow = {
        tenant_id: project.tenantId,
        project_id: project.projectId,
        id: newId('ra', this.#deps.clock),
        subject_type: body.subject_type,
        subject_id: body.subject_id,
        account_id: body.account_id ?? null,
        ...parentFields(body.parent ?? null),
        usage_limit_plan_id: planId,
        plan_bound_at_ms: planId === null ? null : atMs,
        usage_limit_anchor: body.usage_limit_anchor ?? now,
        timezone,
        week_start: body.week_start ?? 'monday',
        created_at: now,
        updated_at: now,
      };
      refuseNoAccount(route, body);
      const complete = await this.#withAccount(tx, plainTx, context, route);
      await store.insertRoute(tx, complete);
      await refuseWrongChain(tx, complete);
      return done('create', complete, { ...body, account_id: complete.account_id });
    });
  }

  /**
   * Changes the fields that are sent; all others stay as they are. A plan that is bound already may be archived.
   *
   * @throws DomainError `not_found`, `route_has_children`, and as `create`.
   */
  update(context: ChangeContext, routeId: string, body: UpdateSubjectRouteBody): Promise<store.RouteRow> {
    if (body.timezone !== undefined) checkedTimezone(body.timezone);
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const { parent, ...others } = body;
      const before = found(await store.findRoute(tx, routeId));
      const planId =
        body.usage_limit_plan_id === undefined
          ? before.usage_limit_plan_id
          : await planToBind(tx, body.usage_limit_plan_id);
      const isRebound = planId !== before.usage_limit_plan_id;
      if (isRebound && planId !== null) await refuseUnbindable(tx, planId);
      const changed: store.RouteRow = {
        ...before,
        ...others,
        ...(parent === undefined ? {} : parentFields(parent)),
        usage_limit_plan_id: planId,
        plan_bound_at_ms: isRebound ? (planId === null ? null : atMs) : before.plan_bound_at_ms,
        updated_at: Math.floor(atMs / 1_000),
      };
      refuseNoAccount(changed, body);
      await refuseTaken(tx, changed, routeId);
      if (!isSameSubject(before, changed)) await refuseOrphans(tx, before);
      const route = await this.#withAccount(tx, plainTx, context, changed);
      await store.updateRoute(tx, route);
      await refuseWrongChain(tx, route);
      return done('update', route, body);
    });
  }

  /**
   * Deletes the route and its direct limits. Counted usage stays, for another route of the same plan.
   *
   * @throws DomainError `not_found`, `route_has_children`.
   */
  delete(context: ChangeContext, routeId: string): Promise<store.RouteRow> {
    return changeLimits(this.#deps, context, async (tx) => {
      const route = found(await store.findRoute(tx, routeId));
      await refuseOrphans(tx, route);
      await store.deleteRoute(tx, routeId);
      return done('delete', route, { subject_type: route.subject_type, subject_id: route.subject_id });
    });
  }

  /** @throws DomainError `not_found`. */
  async read(owner: ProjectScope, routeId: string): Promise<store.RouteRow> {
    return found(await store.findRoute(new ProjectDb(this.#deps.postgres.db, owner), routeId));
  }

  async list(owner: ProjectScope, filter: store.RouteFilter, page: Page) {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    const { usage_limit_plan_id: id, ...others } = filter;
    const plan = id === undefined ? {} : { usage_limit_plan_id: await planIdOf(db, id) };
    return store.listRoutes(db, { ...others, ...plan }, page);
  }

  /** Checks the account of a route; opens one for a route that has neither an account nor a parent. */
  async #withAccount(
    tx: ProjectTx,
    plainTx: Tx,
    context: ChangeContext,
    route: store.RouteRow,
  ): Promise<store.RouteRow> {
    if (route.account_id !== null) await refuseUnknownAccount(tx, route.account_id);
    if (route.account_id !== null || route.parent_type !== null) return route;
    const name = nameOfSubject(route.subject_type, route.subject_id);
    const { id } = await openAccount(plainTx, context, { name }, this.#deps.clock);
    return { ...route, account_id: id };
  }
}

/** Returns the name of a subject's account, cut between characters. */
function nameOfSubject(type: string, id: string): string {
  const characters = [...`${type} ${id}`];
  return characters.slice(0, NAME_CHARS_MAX).join('');
}

function done(
  verb: NonNullable<LimitChange<unknown>['done']>['verb'],
  route: store.RouteRow,
  change: object,
): LimitChange<store.RouteRow> {
  return { answer: route, done: { resourceType: 'subject_route', verb, resourceId: route.id, change } };
}

/** Only a subject with a parent can do without an account. */
function refuseNoAccount({ parent_type }: store.RouteRow, body: UpdateSubjectRouteBody): void {
  if (parent_type !== null || body.account_id !== null) return;
  throw invalidRequest('account_id', 'expected an account, because the subject has no parent');
}

function isSameSubject(a: store.RouteRow, b: store.RouteRow): boolean {
  return a.subject_type === b.subject_type && a.subject_id === b.subject_id;
}

function found(route: store.RouteRow | undefined): store.RouteRow {
  if (route === undefined) throw new DomainError('not_found');
  return route;
}

function checkedTimezone(timezone: string): string {
  if (!isTimezone(timezone)) throw invalidRequest('timezone', 'expected the name of an IANA timezone');
  return timezone;
}

async function refuseUnknownAccount(tx: ProjectTx, accountId: string): Promise<void> {
  if ((await findAccount(tx, accountId)) !== undefined) return;
  throw invalidRequest('account_id', 'expected an account of this project');
}

function planToBind(tx: ProjectTx, id: string | null): Promise<string | null> {
  const named = { path: 'usage_limit_plan_id', takesDraft: false };
  return id === null ? Promise.resolve(null) : currentPlanIdOf(tx, id, named);
}

async function refuseUnbindable(tx: ProjectTx, planId: string): Promise<void> {
  const path = 'usage_limit_plan_id';
  const plan = await findPlan(tx, planId);
  if (plan === undefined) throw invalidRequest(path, 'expected a usage limit plan of this project');
  if (plan.current_revision > 0 && plan.archived_at === null) return;
  const problem =
    plan.archived_at === null
      ? 'has no published version: publish it first'
      : 'is archived: restore it first';
  throw new DomainError('plan_not_published', {
    message: `${planId} ${problem}.`,
    details: [{ path, message: `${planId} ${problem}` }],
  });
}

/** @param routeId the route that may have the subject already */
async function refuseTaken(
  tx: ProjectTx,
  subject: Pick<store.RouteRow, 'subject_type' | 'subject_id'>,
  routeId: string | undefined,
): Promise<void> {
  const taken = await store.findRouteOfSubject(tx, subject);
  if (taken === undefined || taken === routeId) return;
  throw new DomainError('subject_route_exists', {
    message: `The subject already has a route: ${taken}.`,
    details: [
      { path: 'subject_id', message: `the subject already has the route ${taken}`, subject_route_id: taken },
    ],
  });
}
