import type { LimitMeasure, LimitSelectorType } from '@tollgate/contract';
import type { WindowSettings } from '../../../kernel/period.js';

/** A rule as it stands, and since when it has selected what it selects. */
export interface StandingRule {
  readonly ruleNo: number;
  /** Unix milliseconds. */
  readonly sinceMs: number;
  readonly measure: LimitMeasure;
  readonly selectorType: LimitSelectorType;
  readonly selectorValue: string;
  readonly dimensionKey: string | null;
  readonly dimensionValue: string | null;
  readonly currency: string;
  readonly period: string;
}

export interface StandingRoute {
  readonly tenantId: string;
  readonly projectId: string;
  readonly subjectType: string;
  /** `*` for all that have no route of their own. */
  readonly subjectId: string;
  readonly routeId: string;
  readonly planId: string | null;
  /** Unix milliseconds: when it last changed. */
  readonly sinceMs: number;
  readonly settings: WindowSettings;
}

/** That a subject, or any of a project, may have got another route than before. */
export interface Handover {
  readonly projectId: string;
  /** Null for any. */
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly atMs: number;
}

/** What is written now about who is counted by what. */
export interface ActiveRuleRecords {
  readonly routes: readonly StandingRoute[];
  /** By project and plan, `prj_… ulp_…`. */
  readonly rulesOfPlans: ReadonlyMap<string, readonly StandingRule[]>;
  /** By project and route. */
  readonly directLimits: ReadonlyMap<string, readonly StandingRule[]>;
  readonly handovers: readonly Handover[];
}

/** A rule of a route: what they count by, and since when. */
export interface RuleInForce {
  readonly rule: StandingRule;
  readonly route: StandingRoute;
  /** Unix milliseconds: rule and route are the same since then. */
  readonly sinceMs: number;
}

/** By which rules subjects are counted now, and since when nothing about that has changed. */
export class ActiveRules {
  readonly #routes: ReadonlyMap<string, StandingRoute>;
  readonly #handovers = new Map<string, number>();

  constructor(private readonly standing: ActiveRuleRecords) {
    this.#routes = new Map(standing.routes.map((route) => [subjectKey(route), route]));
    for (const handover of standing.handovers) {
      const key = subjectKey(handover);
      this.#handovers.set(key, Math.max(handover.atMs, this.#handovers.get(key) ?? 0));
    }
  }

  /** How a subject is counted by a rule; undefined when it is not. */
  of(subject: Subject, ruleNo: number): RuleInForce | undefined {
    const route =
      this.#routes.get(subjectKey(subject)) ?? this.#routes.get(subjectKey({ ...subject, subjectId: '*' }));
    const rule = route && this.#rulesOf(route).find((other) => other.ruleNo === ruleNo);
    if (route === undefined || rule === undefined) return undefined;
    const anyOf = { projectId: subject.projectId, subjectType: null, subjectId: null };
    const handoverMs = [subject, anyOf].map((of) => this.#handovers.get(subjectKey(of)) ?? 0);
    return { rule, route, sinceMs: Math.max(rule.sinceMs, route.sinceMs, ...handoverMs) };
  }

  /** Every rule of every route. */
  *all(): Iterable<RuleInForce> {
    for (const route of this.standing.routes) {
      for (const rule of this.#rulesOf(route)) {
        yield { rule, route, sinceMs: Math.max(rule.sinceMs, route.sinceMs) };
      }
    }
  }

  /** When subjects of a project were handed over, Unix milliseconds. */
  handoversOf(projectId: string): number[] {
    return this.standing.handovers
      .filter((handover) => handover.projectId === projectId)
      .map(({ atMs }) => atMs);
  }

  #rulesOf({ projectId, planId, routeId }: StandingRoute): readonly StandingRule[] {
    const { rulesOfPlans, directLimits } = this.standing;
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
