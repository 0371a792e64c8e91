import type { TimeWindow, WindowSettings } from '../../../kernel/period.js';
import type { CompiledRule } from './rule.js';
import type { LimitRuleIndex } from './rule-index.js';

/** A subject as an event names it. Project ids are unique across all tenants. */
export interface SubjectRef {
  readonly projectId: string;
  readonly subjectType: string;
  readonly subjectId: string;
}

/** The subject id of a route for all subjects of its type without a route of their own. */
export const EVERY_SUBJECT = '*';

/** The account that pays for the subjects of a route. These fields of an account never change. */
export interface RouteAccount {
  readonly id: string;
  readonly externalId: string | null;
}

/** The account, settings and rules of the subjects of one route. Routes of one plan share its rules. */
export class CompiledRoute {
  readonly #planBoundAtMs: number;

  constructor(
    readonly routeId: string,
    readonly account: RouteAccount,
    readonly settings: WindowSettings,
    readonly rules: LimitRuleIndex,
    planBoundAtMs: number,
  ) {
    this.#planBoundAtMs = planBoundAtMs;
  }

  /** Returns the limit × 10^18 of a window of one of this route's rules. */
  limitFor(rule: CompiledRule, window: TimeWindow): bigint {
    return rule.amounts.amountOf(window, rule.planId === null ? 0 : this.#planBoundAtMs);
  }
}

/** The routes of some subjects, as of one moment. */
export class RouteIndex {
  readonly #routes: ReadonlyMap<string, CompiledRoute | undefined>;

  /** @param routes by `subjectKey`, including the `*` routes of their types */
  constructor(routes: ReadonlyMap<string, CompiledRoute | undefined>) {
    this.#routes = routes;
  }

  /** Returns the subject's own route or, without one, the route for all subjects of its type. */
  resolve(projectId: string, subjectType: string, subjectId: string): CompiledRoute | undefined {
    return (
      this.#routes.get(subjectKey(projectId, subjectType, subjectId)) ??
      this.#routes.get(subjectKey(projectId, subjectType, EVERY_SUBJECT))
    );
  }
}

/** Neither a project id nor a type contains a line break, so the key is unambiguous. */
export function subjectKey(projectId: string, subjectType: string, subjectId: string): string {
  return `${projectId}\n${subjectType}\n${subjectId}`;
}
