import { BoundedMap } from '../../../kernel/bounded-map.js';
import type { Db } from '../../../platform/postgres/index.js';
import {
  type CompiledRoute,
  compileRoutes,
  EVERY_SUBJECT,
  LimitRuleIndex,
  type PlanRef,
  RouteIndex,
  type RouteRead,
  type SubjectRef,
  subjectKey,
} from './route-rules.js';
import type { CompiledRule } from './rule.js';

/** The rules of a plan's newest published revision. */
export interface PlanRead extends PlanRef {
  readonly rules: readonly CompiledRule[];
}

/** The reads of the catalog; each takes one statement or two, however much is read. */
export interface LimitCatalogSource {
  /** Returns the revision of each project. A project without any route may be left out. */
  readRevisions(db: Db, projectIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Returns the routes of these subjects and of all subjects above them, as of one moment. Subjects without a route of
   * their own are left out.
   */
  readRoutes(db: Db, refs: readonly SubjectRef[]): Promise<readonly RouteRead[]>;
  readPlans(db: Db, refs: readonly PlanRef[]): Promise<readonly PlanRead[]>;
  /** Returns direct limits by route id. */
  readDirectLimits(
    db: Db,
    routes: readonly RouteRead[],
  ): Promise<ReadonlyMap<string, readonly CompiledRule[]>>;
}

/** Upper bounds of the cache; above them, only rows that the current call needs are kept. */
export interface LimitCatalogBounds {
  readonly projectsMax: number;
  readonly routesMax: number;
  readonly plansMax: number;
}

const CATALOG_BOUNDS: LimitCatalogBounds = { projectsMax: 10_000, routesMax: 100_000, plansMax: 1_000 };

export interface LimitCatalogOptions {
  readonly source: LimitCatalogSource;
  /** For how long a project is not checked for changes; 0 checks with every call. */
  readonly freshMs: number;
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
  readonly bounds?: LimitCatalogBounds;
}

interface KnownProject {
  readonly revision: number;
  readonly readAtMs: number;
}

/** The route of a subject, or that it has none, as of a revision of its project. */
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
 * The cached routes and rules of a process, read as subjects are asked for. One narrow read per call says which
 * projects have changed. The requested routes of a changed project are read again, and only plans that were
 * published anew are compiled.
 */
export class LimitCatalog {
  readonly #projects: BoundedMap<string, KnownProject>;
  /**
   * Least recently used first. No `BoundedMap`, because a call may need more routes than the bound: those are kept
   * until the next call.
   */
  readonly #routes = new Map<string, KnownRoute>();
  readonly #plans: BoundedMap<string, KnownPlan>;
  readonly #options: Required<LimitCatalogOptions>;
  /** Rises with every `forget`, so that a read that began before it is not cached as fresh. */
  #generation = 0;

  constructor(options: LimitCatalogOptions) {
    this.#options = { monotonicMs: () => performance.now(), bounds: CATALOG_BOUNDS, ...options };
    this.#projects = new BoundedMap(this.#options.bounds.projectsMax);
    this.#plans = new BoundedMap(this.#options.bounds.plansMax);
  }

  /**
   * Returns the routes of these subjects. They include every change that was committed before the call (less
   * `freshMs`).
   */
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
    this.#evictRoutes(Math.max(this.#options.bounds.routesMax, routes.size));
    return new RouteIndex(routes);
  }

  /** Returns those of the projects that have, or have had, routes, plans or limits. */
  async projectsWithRoutes(db: Db, projectIds: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    return new Set((await this.#readRevisions(db, projectIds)).keys());
  }

  /** Makes a change on this node effective here at once. Call it after the change is committed. */
  forget(projectId: string): void {
    this.#generation += 1;
    this.#projects.delete(projectId);
  }

  /** Returns the revisions of projects that have routes. */
  async #readRevisions(db: Db, projectIds: ReadonlySet<string>): Promise<Map<string, number>> {
    const { source, freshMs, monotonicMs } = this.#options;
    // Taken before the read, because the result may be that old when it arrives.
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
      // Calls overlap: the one that returns later may have read earlier.
      const revision = Math.max(read.get(id) ?? 0, known?.revision ?? 0);
      if (revision > 0) revisions.set(id, revision);
    }
    if (generation === this.#generation) {
      for (const id of stale) {
        this.#projects.set(id, { revision: revisions.get(id) ?? 0, readAtMs });
      }
    }
    return revisions;
  }

  /** Takes a route that is cached at this revision, or adds it to those to read. */
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

  /**
   * Reads routes after their projects' revisions: if a change is committed in between, the next call reads them again.
   */
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
    const found = compileRoutes(read, (route) => rulesOf(route, plans, direct.get(route.routeId)));
    for (const { projectId, subjectType, subjectId } of refs) {
      const key = subjectKey(projectId, subjectType, subjectId);
      const route = found.get(key);
      routes.set(key, route);
      this.#routes.delete(key);
      this.#routes.set(key, { revision: revisions.get(projectId) ?? 0, route });
    }
  }

  /** Returns the rules of the plans that these routes are bound to. */
  async #readPlans(db: Db, read: readonly RouteRead[]): Promise<Map<string, LimitRuleIndex>> {
    const rules = new Map<string, LimitRuleIndex>();
    const stale = new Map<string, PlanRef>();
    for (const { plan } of read) {
      if (plan === undefined) continue;
      const key = planKey(plan);
      const known = this.#plans.get(key);
      // A published revision never changes, so its cached rules stay valid.
      if (known !== undefined && known.revision >= plan.revision) rules.set(key, known.rules);
      else stale.set(key, plan);
    }
    if (stale.size === 0) return rules;
    for (const plan of await this.#options.source.readPlans(db, [...stale.values()])) {
      const key = planKey(plan);
      const index = new LimitRuleIndex(plan.rules);
      rules.set(key, index);
      this.#plans.set(key, { revision: plan.revision, rules: index });
    }
    return rules;
  }

  #evictRoutes(max: number): void {
    for (const key of this.#routes.keys()) {
      if (this.#routes.size <= max) return;
      this.#routes.delete(key);
    }
  }
}

const NO_REVISIONS: ReadonlyMap<string, number> = new Map();
const NO_LIMITS: ReadonlyMap<string, readonly CompiledRule[]> = new Map();
const NO_RULES = new LimitRuleIndex([]);

function rulesOf(
  { plan }: RouteRead,
  plans: ReadonlyMap<string, LimitRuleIndex>,
  direct: readonly CompiledRule[] | undefined,
): LimitRuleIndex {
  const ofPlan = (plan === undefined ? undefined : plans.get(planKey(plan))) ?? NO_RULES;
  return direct === undefined ? ofPlan : new LimitRuleIndex([...direct, ...ofPlan.rules]);
}

/** An id contains no line break, so the key is unambiguous. */
function planKey({ projectId, planId }: Pick<PlanRef, 'projectId' | 'planId'>): string {
  return `${projectId}\n${planId}`;
}
