import {
  LIMIT_RULES_MAX,
  type LimitEffective,
  type LimitRuleInput,
  type UpdateDirectLimitBody,
} from '@tollgate/contract';
import type { ChangeContext } from '../../../../kernel/change-context.js';
import { DomainError, invalidRequest } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/id.js';
import type { Page } from '../../../../kernel/page.js';
import type { ProjectRef, ProjectScope } from '../../../../kernel/scope.js';
import { ProjectDb, type ProjectTx, TenantDb, type Tx } from '../../../../platform/postgres/index.js';
import { amountFromText } from '../../../ledger/index.js';
import { changeWindowLimits, lockPosting } from '../../posting/index.js';
import { countUsageControls } from '../allowance-store.js';
import { changeLimits, type LimitChange, type LimitDeps } from '../change.js';
import { checkedRule } from '../rule-check.js';
import { numberRules } from '../rule-number-store.js';
import { type RuleValues, ruleValues, withOwnLists } from '../rule-row.js';
import { findRoute, type RouteRow } from '../subject-routes/store.js';
import * as store from './store.js';

/** Limits of one route alone, next to those of its plan. See README.md. */
export class DirectLimitService {
  readonly #deps: LimitDeps;

  constructor(deps: LimitDeps) {
    this.#deps = deps;
  }

  /**
   * @throws DomainError `not_found` for the route; `invalid_request`, `limit_key_taken`,
   * `entitlement_limit_reached`.
   */
  create(context: ChangeContext, routeId: string, body: LimitRuleInput): Promise<store.DirectLimitRow> {
    const values = checkedRule(body);
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const { project } = context;
      await refuseUnknownRoute(tx, routeId);
      const limitId = newId('racl', this.#deps.clock);
      await refuseKey(tx, { routeId, limitId }, values.limit_key);
      const { tenantId } = project;
      await this.#deps.admission.admitUsageControls(plainTx, tenantId, 1, () =>
        countUsageControls(new TenantDb(plainTx, tenantId)),
      );
      const now = Math.floor(atMs / 1_000);
      const limit: store.DirectLimitRow = {
        tenant_id: project.tenantId,
        project_id: project.projectId,
        id: limitId,
        route_id: routeId,
        ...values,
        rule_no: await numberOf(tx, limitId, values),
        created_at: now,
        updated_at: now,
      };
      await store.insertLimit(tx, limit);
      await store.insertAmount(tx, limit.id, amountOf(limit, atMs, 'now'));
      return done('create', limit, { rule_account_id: routeId, ...values });
    });
  }

  /**
   * Changes the fields that are sent; all others stay as they are.
   *
   * @throws DomainError `not_found`, and as `create`.
   */
  update(
    context: ChangeContext,
    routeId: string,
    limitId: string,
    { effective = 'next_window', ...body }: UpdateDirectLimitBody,
  ): Promise<store.DirectLimitRow> {
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const key = { routeId, limitId };
      const before = found(await store.findLimit(tx, key));
      const values = checkedRule({ ...inputOf(before, body), ...body });
      await refuseKey(tx, key, values.limit_key);
      const limit: store.DirectLimitRow = {
        ...before,
        ...values,
        rule_no: await numberOf(tx, limitId, values),
        updated_at: Math.floor(atMs / 1_000),
      };
      await store.updateLimit(tx, limit);
      const amount = await recordAmount(tx, limit, atMs, effective);
      if (amount !== undefined) await changeWindows(plainTx, context.project, limit, amount);
      return done('update', limit, { rule_account_id: routeId, ...values, effective });
    });
  }

  /** @throws DomainError `not_found`. */
  delete(context: ChangeContext, routeId: string, limitId: string): Promise<store.DirectLimitRow> {
    return changeLimits(this.#deps, context, async (tx) => {
      const key = { routeId, limitId };
      const limit = found(await store.findLimit(tx, key));
      await store.deleteLimit(tx, key);
      return done('delete', limit, { rule_account_id: routeId, limit_key: limit.limit_key });
    });
  }

  /** @throws DomainError `not_found`. */
  async read(owner: ProjectScope, routeId: string, limitId: string): Promise<store.DirectLimitRow> {
    return found(await store.findLimit(new ProjectDb(this.#deps.postgres.db, owner), { routeId, limitId }));
  }

  /** @throws DomainError `not_found` for the route. */
  async list(owner: ProjectScope, routeId: string, page: Page) {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    await refuseUnknownRoute(db, routeId);
    return store.listLimits(db, routeId, page);
  }
}

function done(
  verb: NonNullable<LimitChange<unknown>['done']>['verb'],
  limit: store.DirectLimitRow,
  change: object,
): LimitChange<store.DirectLimitRow> {
  return { answer: limit, done: { resourceType: 'direct_limit', verb, resourceId: limit.id, change } };
}

function found(limit: store.DirectLimitRow | undefined): store.DirectLimitRow {
  if (limit === undefined) throw new DomainError('not_found');
  return limit;
}

/** Returns the number of a limit. The limit has an id of its own, so another key does not make it another limit. */
async function numberOf(tx: ProjectTx, limitId: string, values: RuleValues): Promise<number> {
  const [ruleNo] = await numberRules(tx, limitId, [{ ...values, limit_key: '' }]);
  return ruleNo as number;
}

async function refuseUnknownRoute(db: ProjectDb, routeId: string): Promise<void> {
  if ((await findRoute(db, routeId)) === undefined) throw new DomainError('not_found');
}

/** Refuses a key that another limit of the route has, and a new limit when the route has the most it may have. */
async function refuseKey(tx: ProjectTx, key: store.DirectLimitKey, limitKey: string): Promise<void> {
  const keys = await store.readKeys(tx, key.routeId);
  const taken = keys.get(limitKey);
  if (taken !== undefined && taken !== key.limitId) {
    const message = `${taken} already has this limit_key`;
    throw new DomainError('limit_key_taken', {
      message: `${message}.`,
      details: [{ path: 'limit_key', message }],
    });
  }
  if (keys.size >= LIMIT_RULES_MAX && ![...keys.values()].includes(key.limitId)) {
    throw invalidRequest(
      'limit_key',
      `the route already has ${LIMIT_RULES_MAX} limits (LIMIT_RULES_MAX), which is the maximum`,
    );
  }
}

/**
 * Returns a limit in the form of a request body. A limit on concurrent work has no period: one that becomes such a
 * limit does not keep its own, and one that was such a limit has none to keep.
 */
function inputOf(
  row: store.DirectLimitRow,
  { measure }: Pick<UpdateDirectLimitBody, 'measure'>,
): LimitRuleInput {
  const { period, ...others } = withOwnLists(ruleValues(row));
  const hasPeriod = row.measure !== 'concurrency' && measure !== 'concurrency';
  return hasPeriod ? { ...others, period } : others;
}

function amountOf(limit: store.DirectLimitRow, atMs: number, effective: LimitEffective): store.LimitAmount {
  return { changed_at_ms: atMs, rule_no: limit.rule_no, limit_amount: limit.limit_amount, effective };
}

/** Stores the new amount of the limit, unless all future windows would have it anyway. Returns the stored change. */
async function recordAmount(
  tx: ProjectTx,
  limit: store.DirectLimitRow,
  atMs: number,
  effective: LimitEffective,
): Promise<store.LimitAmount | undefined> {
  const newest = await store.findNewestAmount(tx, limit.id);
  const isSame =
    newest?.rule_no === limit.rule_no &&
    amountFromText(newest.limit_amount) === amountFromText(limit.limit_amount) &&
    (effective === 'next_window' || newest.effective === 'now');
  if (isSame) return undefined;
  // Changes follow each other in time, whatever the clocks of nodes say.
  const changedAtMs = Math.max(atMs, (newest?.changed_at_ms ?? 0) + 1);
  const amount = amountOf(limit, changedAtMs, effective);
  await store.insertAmount(tx, limit.id, amount);
  return amount;
}

/** Changes the limits that are stored in open windows. Waits for batches that post for the slot of the project. */
async function changeWindows(
  tx: Tx,
  project: ProjectRef,
  limit: store.DirectLimitRow,
  amount: store.LimitAmount,
): Promise<void> {
  await lockPosting(tx, [project.projectNo]);
  const route = (await findRoute(new ProjectDb(tx, project), limit.route_id)) as RouteRow;
  await changeWindowLimits(tx, {
    projectNo: project.projectNo,
    subjectType: route.subject_type,
    subjectId: route.subject_id,
    ruleNo: limit.rule_no,
    measure: limit.measure,
    limitAmount: amount.limit_amount,
    notifyAt: limit.notify_at,
    changedAtMs: amount.changed_at_ms,
    opensNow: amount.effective === 'now',
  });
}
