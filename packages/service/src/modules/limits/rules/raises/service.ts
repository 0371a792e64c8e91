import { type CreateLimitRaiseBody, LIMIT_RAISES_MAX } from '@tollgate/contract';
import type { ChangeContext } from '../../../../kernel/change-context.js';
import { DomainError, invalidRequest } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/id.js';
import type { Page } from '../../../../kernel/page.js';
import type { Principal } from '../../../../kernel/principal.js';
import type { ProjectScope } from '../../../../kernel/scope.js';
import { ProjectDb, type ProjectTx } from '../../../../platform/postgres/index.js';
import { amountText, exactAmount, once } from '../../../ledger/index.js';
import { changeLimits, type LimitDeps } from '../change.js';
import { findRoute } from '../subject-routes/store.js';
import * as store from './store.js';

/** Raises of the limits of a route for a time. See README.md. */
export class RaiseService {
  readonly #deps: LimitDeps;

  constructor(deps: LimitDeps) {
    this.#deps = deps;
  }

  /**
   * Raises a limit at once. A request that is repeated with its key returns the raise as it is now.
   *
   * @param body parsed losslessly, so that no digit of the amount is lost
   * @throws DomainError `not_found` for the route; `invalid_request`, also for an unknown `limit_key` and for an
   * `until` that is not in the future; `idempotency_key_conflict`
   */
  create(
    context: ChangeContext,
    routeId: string,
    body: CreateLimitRaiseBody,
    key: string | undefined,
  ): Promise<store.RaiseRow> {
    const { limit_key: limitKey, until, reason } = body;
    const amount = checkedAmount(body);
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const { tenantId, projectId } = context.project;
      const asked = [routeId, limitKey, amount, until, reason];
      const request = { tenantId, projectId, operation: 'limit_raise', key, asked };
      let raise: store.RaiseRow | undefined;
      const { id } = await once(plainTx, request, Math.floor(atMs / 1_000), async () => {
        await refuseUnraisable(tx, routeId, body, atMs);
        raise = {
          tenant_id: tenantId,
          project_id: projectId,
          id: newId('lra', this.#deps.clock),
          route_id: routeId,
          limit_key: limitKey,
          amount,
          from_ms: atMs,
          until_ms: until * 1_000,
          ended_at_ms: null,
          reason,
          created_by: makerOf(context.principal),
        };
        await store.insertRaise(tx, raise);
        return { id: raise.id };
      });
      if (raise === undefined) return { answer: await foundRaise(tx, { routeId, raiseId: id }) };
      const change = { rule_account_id: routeId, limit_key: limitKey, amount, until, reason };
      return { answer: raise, done: { resourceType: 'limit_raise', verb: 'create', resourceId: id, change } };
    });
  }

  /**
   * Ends a raise now. One that has ended stays as it is.
   *
   * @throws DomainError `not_found`.
   */
  end(context: ChangeContext, key: store.RaiseKey): Promise<void> {
    return changeLimits(this.#deps, context, async (tx, atMs) => {
      const raise = await foundRaise(tx, key);
      if (!isActiveRaise(raise, atMs)) return { answer: undefined };
      await store.endRaise(tx, raise.id, atMs);
      const { limit_key, reason } = raise;
      const change = { rule_account_id: key.routeId, limit_key, amount: raiseAmount(raise), reason };
      return {
        answer: undefined,
        done: { resourceType: 'limit_raise', verb: 'delete', resourceId: raise.id, change },
      };
    });
  }

  /** @throws DomainError `not_found` for the route. */
  async list(owner: ProjectScope, routeId: string, page: Page) {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    await refuseUnknownRoute(db, routeId);
    return store.listRaises(db, routeId, page);
  }
}

function checkedAmount(body: CreateLimitRaiseBody): string {
  const amount = exactAmount(body.amount);
  if (amount !== undefined && amount > 0n) return amountText(amount);
  throw invalidRequest('amount', 'expected a decimal above 0 of at most 20 integer and 18 fraction digits');
}

async function refuseUnraisable(
  tx: ProjectTx,
  routeId: string,
  { limit_key: limitKey, until }: CreateLimitRaiseBody,
  atMs: number,
): Promise<void> {
  await refuseUnknownRoute(tx, routeId);
  if (until * 1_000 <= atMs) throw invalidRequest('until', 'expected a time in the future');
  await refuseUnknownKey(tx, routeId, limitKey);
  await refuseTooMany(tx, routeId, atMs);
}

async function foundRaise(tx: ProjectTx, key: store.RaiseKey): Promise<store.RaiseRow> {
  const raise = await store.findRaise(tx, key);
  if (raise === undefined) throw new DomainError('not_found');
  return raise;
}

/** Whether a raise applies at a time. */
export function isActiveRaise({ until_ms, ended_at_ms }: store.RaiseRow, atMs: number): boolean {
  return ended_at_ms === null && atMs < until_ms;
}

/** Returns the amount of a raise without zeros at its end. */
export function raiseAmount({ amount }: store.RaiseRow): string {
  const exact = exactAmount(amount);
  if (exact === undefined) throw new Error(`a raise has the amount ${amount}`);
  return amountText(exact);
}

function makerOf(principal: Principal): string {
  return principal.kind === 'key' ? principal.keyId : 'service';
}

async function refuseUnknownRoute(db: ProjectDb, routeId: string): Promise<void> {
  if ((await findRoute(db, routeId)) === undefined) throw new DomainError('not_found');
}

async function refuseUnknownKey(tx: ProjectTx, routeId: string, limitKey: string): Promise<void> {
  if (await store.hasLimitOfKey(tx, routeId, limitKey)) return;
  throw invalidRequest(
    'limit_key',
    'expected a limit of the plan of the route, or a direct limit of the route',
  );
}

async function refuseTooMany(tx: ProjectTx, routeId: string, atMs: number): Promise<void> {
  if ((await store.countActiveRaises(tx, routeId, atMs)) < LIMIT_RAISES_MAX) return;
  throw invalidRequest(
    'limit_key',
    `the route already has ${LIMIT_RAISES_MAX} active raises (LIMIT_RAISES_MAX), which is the maximum`,
  );
}
