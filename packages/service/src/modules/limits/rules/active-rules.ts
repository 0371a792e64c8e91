import type { LimitMeasure, LimitSelectorType } from '@tollgate/contract';
import type { WindowSettings } from '../../../kernel/period.js';

/** A rule as it is now, and since when it has selected the same. */
export interface ActiveLimitRule {
  readonly ruleNo: number;
  /** Unix milliseconds. */
  readonly sinceMs: number;
  readonly measure: LimitMeasure;
  /** The dimension whose values a `unique` rule counts; otherwise null. */
  readonly of: string | null;
  readonly selectorType: LimitSelectorType;
  readonly selectorValue: string;
  /** Metrics; null unless the rule lists them. */
  readonly selectorValues: readonly string[] | null;
  readonly dimensionKey: string | null;
  readonly dimensionValue: string | null;
  /** Values and prefixes, as the tenant wrote them; null unless the rule lists them. */
  readonly dimensionValues: readonly string[] | null;
  readonly currency: string;
  readonly period: string;
}

export interface ActiveRoute {
  readonly tenantId: string;
  readonly projectId: string;
  readonly subjectType: string;
  /** `*` for all subjects without a route of their own. */
  readonly subjectId: string;
  readonly routeId: string;
  readonly planId: string | null;
  /** When the route last changed, Unix milliseconds. */
  readonly sinceMs: number;
  readonly settings: WindowSettings;
}

/** A moment at which a subject, or any subject of a project, may have got another route. */
export interface RouteChange {
  readonly projectId: string;
  /** Null for any subject type. */
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly atMs: number;
}

/** The rules and routes that are stored now. */
export interface ActiveRuleRecords {
  readonly routes: readonly ActiveRoute[];
  /** By project and plan, `prj_… ulp_…`. */
  readonly rulesOfPlans: ReadonlyMap<string, readonly ActiveLimitRule[]>;
  /** By project and route. */
  readonly directLimits: ReadonlyMap<string, readonly ActiveLimitRule[]>;
  readonly routeChanges: readonly RouteChange[];
}

/** A rule of a route, and since when it counts. */
export interface ActiveRule {
  readonly rule: ActiveLimitRule;
  readonly route: ActiveRoute;
  /** Unix milliseconds. Neither rule nor route has changed since. */
  readonly sinceMs: number;
}

/** The rules by which subjects are counted now, and since when nothing about them has changed. */
export class ActiveRules {
  readonly #records: ActiveRuleRecords;
  readonly #routes: ReadonlyMap<string, ActiveRoute>;
  readonly #routeChanges = new Map<string, number>();

  constructor(records: ActiveRuleRecords) {
    this.#records = records;
    this.#routes = new Map(records.routes.map((route) => [subjectKey(route), route]));
    for (const change of records.routeChanges) {
      const key = subjectKey(change);
      this.#routeChanges.set(key, Math.max(change.atMs, this.#routeChanges.get(key) ?? 0));
    }
  }

  /** Returns how a subject is counted by a rule; undefined when it is not. */
  of(subject: Subject, ruleNo: number): ActiveRule | undefined {
    const route =
      this.#routes.get(subjectKey(subject)) ?? this.#routes.get(subjectKey({ ...subject, subjectId: '*' }));
    const rule = route && this.#rulesOf(route).find((other) => other.ruleNo === ruleNo);
    if (route === undefined || rule === undefined) return undefined;
    const anyOf = { projectId: subject.projectId, subjectType: null, subjectId: null };
    const routeChangesMs = [subject, anyOf].map((of) => this.#routeChanges.get(subjectKey(of)) ?? 0);
    return { rule, route, sinceMs: Math.max(rule.sinceMs, route.sinceMs, ...routeChangesMs) };
  }

  /** Returns every rule of every route. */
  *all(): Iterable<ActiveRule> {
    for (const route of this.#records.routes) {
      for (const rule of this.#rulesOf(route)) {
        yield { rule, route, sinceMs: Math.max(rule.sinceMs, route.sinceMs) };
      }
    }
  }

  /** Returns when subjects of a project got another route, in Unix milliseconds. */
  routeChangesOf(projectId: string): number[] {
    return this.#records.routeChanges
      .filter((change) => change.projectId === projectId)
      .map(({ atMs }) => atMs);
  }

  #rulesOf({ projectId, planId, routeId }: ActiveRoute): readonly ActiveLimitRule[] {
    const { rulesOfPlans, directLimits } = this.#records;
    const ofPlan = planId === null ? undefined : rulesOfPlans.get(`${projectId} ${planId}`);
    const own = directLimits.get(`${projectId} ${routeId}`);
    return own === undefined ? (ofPlan ?? []) : [...(ofPlan ?? []), ...own];
  }
}

interface Subject {
  readonly projectId: string;
  readonly subjectType: string;
  readonly subjectId: string;
}

function subjectKey(subject: {
  projectId: string;
  subjectType: string | null;
  subjectId: string | null;
}): string {
  return `${subject.projectId} ${subject.subjectType} ${subject.subjectId}`;
}
