import type { CreateUsageLimitPlanBody, UpdateUsageLimitPlanBody } from '@tollgate/contract';
import type { ChangeContext } from '../../../../kernel/change-context.js';
import { DomainError } from '../../../../kernel/errors.js';
import { newId } from '../../../../kernel/id.js';
import type { Page } from '../../../../kernel/page.js';
import type { ProjectScope } from '../../../../kernel/scope.js';
import { ProjectDb, type ProjectTx, TenantDb, type Tx } from '../../../../platform/postgres/index.js';
import { countUsageControls } from '../allowance-store.js';
import { changeLimits, type LimitChange, type LimitDeps } from '../change.js';
import { checkedRules } from '../rule-check.js';
import { numberRules } from '../rule-number-store.js';
import { type RuleValues, ruleValues } from '../rule-row.js';
import { currentPlanIdOf, planIdOf } from './plan-id.js';
import * as store from './store.js';

/** A plan with its active version and its draft. */
export interface PlanState {
  readonly plan: store.PlanRow;
  readonly published: store.VersionRow | undefined;
  readonly draft: store.VersionRow | undefined;
}

/** Usage limit plans: one draft, and any number of published revisions that never change. See README.md. */
export class PlanService {
  readonly #deps: LimitDeps;

  constructor(deps: LimitDeps) {
    this.#deps = deps;
  }

  /** @throws DomainError `invalid_request`, `name_taken`, `entitlement_limit_reached`. */
  create(context: ChangeContext, body: CreateUsageLimitPlanBody): Promise<store.PlanRow> {
    const values = checkedRules(body.rules ?? []);
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      await refuseTakenName(tx, body.name);
      await this.#admitRules(plainTx, context.project, values.length);
      const now = Math.floor(atMs / 1_000);
      const plan: store.PlanRow = {
        tenant_id: context.project.tenantId,
        project_id: context.project.projectId,
        id: newId('ulp', this.#deps.clock),
        name: body.name,
        title: body.title,
        description: body.description || null,
        current_revision: 0,
        archived_at: null,
        created_at: now,
        updated_at: now,
      };
      await store.insertLimitPlan(tx, plan);
      const draft = await this.#draftOf(tx, plan, values, undefined, now);
      await store.replacePlanDraft(tx, draft);
      return done('create', plan.id, plan, { ...body, rules: values });
    });
  }

  /**
   * Changes the draft; without one, opens it as a copy of the active version.
   *
   * @param id of the plan, of its active version or of its draft, as for everything that changes a plan
   * @throws DomainError `not_found`, `invalid_request`, `usage_limit_plan_archived`, `entitlement_limit_reached`.
   */
  update(context: ChangeContext, id: string, body: UpdateUsageLimitPlanBody): Promise<PlanState> {
    const values = body.rules === undefined ? undefined : checkedRules(body.rules);
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const before = await activePlan(tx, id);
      const now = Math.floor(atMs / 1_000);
      const [published, previous] = await versionsOf(tx, before);
      const plan: store.PlanRow = {
        ...before,
        title: body.title ?? before.title,
        description: body.description === undefined ? before.description : body.description || null,
        updated_at: now,
      };
      const rules = values ?? (previous ?? published)?.rules ?? [];
      await this.#admitRules(plainTx, context.project, rules.length - rulesOf(published, previous));
      const draft = await this.#draftOf(tx, plan, rules, previous, now);
      await store.replacePlanDraft(tx, draft);
      await store.updatePlan(tx, plan);
      const change = values === undefined ? body : { ...body, rules: values };
      return done('update', plan.id, { plan, published, draft }, change);
    });
  }

  /** @throws DomainError `not_found`, `usage_limit_plan_archived`, `nothing_to_publish`. */
  publish(context: ChangeContext, id: string): Promise<store.VersionRow> {
    return changeLimits(this.#deps, context, async (tx, atMs) => {
      const plan = await activePlan(tx, id);
      const [published, draft] = await versionsOf(tx, plan);
      if (draft === undefined) throw new DomainError('nothing_to_publish');
      const revision = plan.current_revision + 1;
      // Windows are matched with revisions by time: revisions follow each other, whatever the clocks of nodes say.
      const publishedAtMs = Math.max(atMs, (published?.published_at_ms ?? 0) + 1);
      await store.markPlanPublished(tx, draft, revision, publishedAtMs);
      await store.updatePlan(tx, {
        ...plan,
        current_revision: revision,
        updated_at: Math.floor(publishedAtMs / 1_000),
      });
      const version = found(await store.findVersion(tx, plan.id, revision));
      return done('publish', plan.id, version, { revision, rules: draft.rules.map(ruleValues) });
    });
  }

  /**
   * Archives a plan: it cannot be bound any more. Routes that are bound to it stay bound.
   *
   * @throws DomainError `not_found`.
   */
  archive(context: ChangeContext, id: string): Promise<store.PlanRow> {
    return this.#setArchived(context, id, 'archive');
  }

  /** @throws DomainError `not_found`, `entitlement_limit_reached`. */
  restore(context: ChangeContext, id: string): Promise<store.PlanRow> {
    return this.#setArchived(context, id, 'restore');
  }

  /**
   * @param id of the plan or of one of its versions, which is the `id` in lists
   *
   * @throws DomainError `not_found`.
   */
  async read(owner: ProjectScope, id: string): Promise<PlanState> {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    const plan = found(await store.findPlan(db, await planIdOf(db, id)));
    const [published, draft] = await versionsOf(db, plan);
    return { plan, published, draft };
  }

  list(owner: ProjectScope, filter: store.PlanFilter, page: Page) {
    return store.listPlans(new ProjectDb(this.#deps.postgres.db, owner), filter, page);
  }

  /**
   * @param id as `read` takes it
   *
   * @throws DomainError `not_found`.
   */
  async listVersions(owner: ProjectScope, id: string, page: Page) {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    const versions = await store.listPlanVersions(db, await planIdOf(db, id), page);
    // Every plan has a version.
    if (versions.totalCount === 0) throw new DomainError('not_found');
    return versions;
  }

  /** Archives or restores a plan. Nothing changes when it is in that state already. */
  #setArchived(context: ChangeContext, id: string, verb: 'archive' | 'restore'): Promise<store.PlanRow> {
    return changeLimits(this.#deps, context, async (tx, atMs, plainTx) => {
      const before = await planToChange(tx, id);
      if ((before.archived_at !== null) === (verb === 'archive')) return { answer: before };
      if (verb === 'restore' && !(await store.isBound(tx, before.id))) {
        await this.#admitRules(plainTx, context.project, rulesOf(...(await versionsOf(tx, before))));
      }
      const now = Math.floor(atMs / 1_000);
      const plan = { ...before, archived_at: verb === 'archive' ? now : null, updated_at: now };
      await store.updatePlan(tx, plan);
      return done(verb, plan.id, plan, { current_revision: plan.current_revision });
    });
  }

  /** @param added number of rules to be added; rules that exist may stay */
  async #admitRules(tx: Tx, { tenantId }: ProjectScope, added: number): Promise<void> {
    if (added <= 0) return;
    await this.#deps.admission.admitUsageControls(tx, tenantId, added, () =>
      countUsageControls(new TenantDb(tx, tenantId)),
    );
  }

  /** Returns a draft with these rules. A rule whose key the previous draft had keeps its identity. */
  async #draftOf(
    tx: ProjectTx,
    plan: store.PlanRow,
    rules: readonly RuleValues[],
    previous: store.VersionRow | undefined,
    now: number,
  ): Promise<store.VersionRow> {
    const numbers = await numberRules(tx, plan.id, rules);
    const known = new Map(previous?.rules.map((rule) => [rule.limit_key, rule]));
    const id = previous?.id ?? newId('ulpv', this.#deps.clock);
    return {
      tenant_id: plan.tenant_id,
      project_id: plan.project_id,
      id,
      plan_id: plan.id,
      name: plan.name,
      revision: 0,
      title: plan.title,
      description: plan.description,
      published_at_ms: null,
      archived_at: plan.archived_at,
      created_at: previous?.created_at ?? now,
      updated_at: now,
      rules: rules.map((rule, index) => ({
        ...ruleValues(rule),
        id: known.get(rule.limit_key)?.id ?? newId('ulpr', this.#deps.clock),
        plan_version_id: id,
        rule_no: numbers[index] as number,
        created_at: known.get(rule.limit_key)?.created_at ?? now,
        updated_at: now,
      })),
    };
  }
}

function done<Answer>(
  verb: NonNullable<LimitChange<Answer>['done']>['verb'],
  resourceId: string,
  answer: Answer,
  change: object,
): LimitChange<Answer> {
  return { answer, done: { resourceType: 'usage_limit_plan', verb, resourceId, change } };
}

/**
 * Returns how many rules a plan counts as: the larger of its newest version and its draft, since one replaces the
 * other.
 */
function rulesOf(...versions: readonly (store.VersionRow | undefined)[]): number {
  return Math.max(...versions.map((version) => version?.rules.length ?? 0));
}

/** Returns the newest published version and the draft. */
async function versionsOf(
  db: ProjectDb,
  { id, current_revision: revision }: store.PlanRow,
): Promise<readonly [store.VersionRow | undefined, store.VersionRow | undefined]> {
  const published = revision === 0 ? undefined : await store.findVersion(db, id, revision);
  return [published, await store.findVersion(db, id, 0)];
}

async function refuseTakenName(tx: ProjectTx, name: string): Promise<void> {
  const taken = await store.findPlanNamed(tx, name);
  if (taken === undefined) return;
  const holder = taken.archived_at === null ? taken.id : `${taken.id}, which is archived,`;
  const message = `${holder} already has this name`;
  throw new DomainError('name_taken', { message: `${message}.`, details: [{ path: 'name', message }] });
}

/** @throws DomainError `not_found`, `invalid_request` */
async function planToChange(tx: ProjectTx, id: string): Promise<store.PlanRow> {
  const planId = await currentPlanIdOf(tx, id, { path: 'id', takesDraft: true });
  return found(await store.findPlan(tx, planId));
}

async function activePlan(tx: ProjectTx, id: string): Promise<store.PlanRow> {
  const plan = await planToChange(tx, id);
  if (plan.archived_at !== null) throw new DomainError('usage_limit_plan_archived');
  return plan;
}

function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new DomainError('not_found');
  return row;
}
