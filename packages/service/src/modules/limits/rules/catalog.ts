import type { WindowSettings } from '../../../kernel/period.js';
import type { Db } from '../../../platform/postgres/index.js';
import { CompiledRoute, EVERY_SUBJECT, RouteIndex, type SubjectRef, subjectKey } from './route-rules.js';
import type { CompiledRule } from './rule.js';
import { LimitRuleIndex } from './rule-index.js';

export interface PlanRef {
  readonly projectId: string;
  readonly planId: string;
  /** The newest published revision, at least. */
  readonly revision: number;
}

export interface RouteRead extends SubjectRef {
  readonly routeId: string;
  readonly accountId: string;
  readonly accountExternalId: string | null;
  readonly settings: WindowSettings;
  readonly plan: (PlanRef & { readonly boundAtMs: number }) | undefined;
  readonly hasDirectLimits: boolean;
}

/** The rules of a plan's newest published revision. */
export interface PlanRead extends PlanRef {
  readonly rules: readonly CompiledRule[];
}

/** What the catalog reads; every part of it in one statement or two, whatever is asked. */
export interface LimitCatalogSource {
  /** A project without any route may be left out. */
  readRevisions(db: Db, projectIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  readRoutes(db: Db, refs: readonly SubjectRef[]): Promise<readonly RouteRead[]>;
  readPlans(db: Db, refs: readonly PlanRef[]): Promise<readonly PlanRead[]>;
  /** By route id. */
  readDirectLimits(
    db: Db,
    routes: readonly RouteRead[],
  ): Promise<ReadonlyMap<string, readonly CompiledRule[]>>;
}

/** What is kept in memory, and beyond which only what the call at hand needs is. */
export interface LimitCatalogBounds {
  readonly projectsMax: number;
  readonly routesMax: number;
  readonly plansMax: number;
}

const CATALOG_BOUNDS: LimitCatalogBounds = { projectsMax: 10_000, routesMax: 100_000, plansMax: 1_000 };

export interface LimitCatalogOptions {
  readonly source: LimitCatalogSource;
  /** How long a project is not asked whether anything has changed; 0 asks every time. */
  readonly freshMs: number;
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
  readonly bounds?: LimitCatalogBounds;
}

interface KnownProject {
  readonly revision: number;
  readonly readAtMs: number;
}

/** Of a subject: its route, or that it has none. As of that revision of its project. */
interface KnownRoute {
  readonly revision: number;
  readonly route: CompiledRoute | undefined;
}

interface KnownPlan {
  readonly revision: number;
  readonly rules: LimitRuleIndex;
}

type Routes = Map<string, CompiledRoute | undefined>;

/**
 * The routes and rules of a process, read as subjects are asked for. One narrow read per call tells whether a
 * project has changed; of what has, only the routes that are asked for are read again, and only plans that
 * were published anew are compiled.
 */
export class LimitCatalog {
  readonly #projects = new Map<string, KnownProject>();
  readonly #routes = new Map<string, KnownRoute>();
  readonly #plans = new Map<string, KnownPlan>();
  readonly #options: Required<LimitCatalogOptions>;
  /** Rises with every `forget`, so that a read that began before it is not remembered as fresh after it. */
  #generation = 0;

  constructor(options: LimitCatalogOptions) {
    this.#options = { monotonicMs: () => performance.now(), bounds: CATALOG_BOUNDS, ...options };
  }

  /** What applies to these subjects: whatever was committed before the call (less `freshMs`) is in it. */
  async read(db: Db, refs: readonly SubjectRef[]): Promise<RouteIndex> {
    const revisions = await this.#readRevisions(db, new Set(refs.map(({ projectId }) => projectId)));
    const routes: Routes = new Map();
    const missing: SubjectRef[] = [];
    for (const ref of refs) {
      const revision = revisions.get(ref.projectId);
      if (revision === undefined) continue;
      const { projectId, subjectType, subjectId } = ref;
      const everyKey = subjectKey(projectId, subjectType, EVERY_SUBJECT);
      if (!routes.has(everyKey)) {
        this.#lookUp(everyKey, { ...ref, subjectId: EVERY_SUBJECT }, revision, routes, missing);
      }
      const key = subjectKey(projectId, subjectType, subjectId);
      if (!routes.has(key)) this.#lookUp(key, ref, revision, routes, missing);
    }
    if (missing.length > 0) await this.#readRoutes(db, missing, revisions, routes);
    evict(this.#routes, Math.max(this.#options.bounds.routesMax, routes.size));
    return new RouteIndex(routes);
  }

  /** Those of the projects that have, or have had, anything that a route may be bound to. */
  async projectsWithRoutes(db: Db, projectIds: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    return new Set((await this.#readRevisions(db, projectIds)).keys());
  }

  /** Makes a change on this node effective here at once. Call it after the change is committed. */
  forget(projectId: string): void {
    this.#generation += 1;
    this.#projects.delete(projectId);
  }

  /** Those of projects that have routes. */
  async #readRevisions(db: Db, projectIds: ReadonlySet<string>): Promise<Map<string, number>> {
    const { source, freshMs, monotonicMs, bounds } = this.#options;
    // Measured from before the read: the answer may be that old when it arrives.
    const readAtMs = monotonicMs();
    const generation = this.#generation;
    const stale = [...projectIds].filter((id) => {
      const known = this.#projects.get(id);
      return known === undefined || readAtMs - known.readAtMs >= freshMs;
    });
    const read = stale.length === 0 ? NO_REVISIONS : await source.readRevisions(db, stale);
    const revisions = new Map<string, number>();
    for (const id of projectIds) {
      const known = this.#projects.get(id);
      // Calls overlap: the one that answers later may have read earlier.
      const revision = Math.max(read.get(id) ?? 0, known?.revision ?? 0);
      if (revision > 0) revisions.set(id, revision);
    }
    if (generation === this.#generation) {
      for (const id of stale) {
        this.#projects.delete(id);
        this.#projects.set(id, { revision: revisions.get(id) ?? 0, readAtMs });
      }
      evict(this.#projects, bounds.projectsMax);
    }
    return revisions;
  }

  /** Takes a route that is known as of this revision, or has it read. */
  #lookUp(key: string, ref: SubjectRef, revision: number, routes: Routes, missing: SubjectRef[]): void {
    const known = this.#routes.get(key);
    if (known?.revision === revision) {
      routes.set(key, known.route);
      this.#routes.delete(key);
      this.#routes.set(key, known);
    } else {
      routes.set(key, undefined);
      missing.push(ref);
    }
  }

  /** Reads routes after their projects' revisions: if a write comes between, the next call reads them again. */
  async #readRoutes(
    db: Db,
    refs: readonly SubjectRef[],
    revisions: ReadonlyMap<string, number>,
    routes: Routes,
  ): Promise<void> {
    const read = await this.#options.source.readRoutes(db, refs);
    const plans = await this.#readPlans(db, read);
    const withLimits = read.filter(({ hasDirectLimits }) => hasDirectLimits);
    const direct =
      withLimits.length === 0 ? NO_LIMITS : await this.#options.source.readDirectLimits(db, withLimits);
    const found = new Map(
      read.map((route) => [
        subjectKey(route.projectId, route.subjectType, route.subjectId),
        compileRoute(route, plans, direct.get(route.routeId)),
      ]),
    );
    for (const { projectId, subjectType, subjectId } of refs) {
      const key = subjectKey(projectId, subjectType, subjectId);
      const route = found.get(key);
      routes.set(key, route);
      this.#routes.delete(key);
      this.#routes.set(key, { revision: revisions.get(projectId) ?? 0, route });
    }
  }

  /** The rules of the plans that these routes are bound to. */
  async #readPlans(db: Db, read: readonly RouteRead[]): Promise<Map<string, LimitRuleIndex>> {
    const rules = new Map<string, LimitRuleIndex>();
    const stale = new Map<string, PlanRef>();
    for (const { plan } of read) {
      if (plan === undefined) continue;
      const key = planKey(plan);
      const known = this.#plans.get(key);
      // A published revision never changes, so a plan is as its revision says.
      if (known !== undefined && known.revision >= plan.revision) rules.set(key, known.rules);
      else stale.set(key, plan);
    }
    if (stale.size === 0) return rules;
    for (const plan of await this.#options.source.readPlans(db, [...stale.values()])) {
      const key = planKey(plan);
      const index = new LimitRuleIndex(plan.rules);
      rules.set(key, index);
      this.#plans.delete(key);
      this.#plans.set(key, { revision: plan.revision, rules: index });
    }
    evict(this.#plans, this.#options.bounds.plansMax);
    return rules;
  }
}

const NO_REVISIONS: ReadonlyMap<string, number> = new Map();
const NO_LIMITS: ReadonlyMap<string, readonly CompiledRule[]> = new Map();
const NO_RULES = new LimitRuleIndex([]);

function compileRoute(
  { routeId, accountId, accountExternalId, settings, plan }: RouteRead,
  plans: ReadonlyMap<string, LimitRuleIndex>,
  direct: readonly CompiledRule[] | undefined,
): CompiledRoute {
  const ofPlan = (plan === undefined ? undefined : plans.get(planKey(plan))) ?? NO_RULES;
  const rules = direct === undefined ? ofPlan : new LimitRuleIndex([...direct, ...ofPlan.rules]);
  const account = { id: accountId, externalId: accountExternalId };
  return new CompiledRoute(routeId, account, settings, rules, plan?.boundAtMs ?? 0);
}

/** No id holds a line break. */
function planKey({ projectId, planId }: Pick<PlanRef, 'projectId' | 'planId'>): string {
  return `${projectId}\n${planId}`;
}

/** Drops what was not asked for the longest, down to so many. */
function evict<Value>(cache: Map<string, Value>, max: number): void {
  for (const key of cache.keys()) {
    if (cache.size <= max) return;
    cache.delete(key);
  }
}
