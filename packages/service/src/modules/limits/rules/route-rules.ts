import type { TimeWindow, WindowSettings } from '../../../kernel/period.js';
import type { CompiledRule } from './rule.js';
import type { LimitRuleIndex } from './rule-index.js';

/** A subject as an event names it. Ids of projects are unique over all tenants. */
export interface SubjectRef {
  readonly projectId: string;
  readonly subjectType: string;
  readonly subjectId: string;
}

/** The id of a route for every subject of its type that has none of its own. */
export const EVERY_SUBJECT = '*';

/** The account that pays for the subjects of a route. Accounts never change. */
export interface RouteAccount {
  readonly id: string;
  readonly externalId: string | null;
}

/** What applies to the subjects of one route. Those of a plan share its rules. */
export class CompiledRoute {
  constructor(
    readonly routeId: string,
    readonly account: RouteAccount,
    readonly settings: WindowSettings,
    readonly rules: LimitRuleIndex,
    private readonly planBoundAtMs: number,
  ) {}

  /** The limit × 10^18 of a window of a rule of this route. */
  limitFor(rule: CompiledRule, window: TimeWindow): bigint {
    return rule.amounts.amountOf(window, rule.planId === null ? 0 : this.planBoundAtMs);
  }
}

/** The routes of some subjects, as of one moment. */
export class RouteIndex {
  /** @param routes by `subjectKey`; the `*` routes of their types are among them */
  constructor(private readonly routes: ReadonlyMap<string, CompiledRoute | undefined>) {}

  /** The subject's own route or, without one, that of every subject of its type. */
  resolve(projectId: string, subjectType: string, subjectId: string): CompiledRoute | undefined {
    return (
      this.routes.get(subjectKey(projectId, subjectType, subjectId)) ??
      this.routes.get(subjectKey(projectId, subjectType, EVERY_SUBJECT))
    );
  }
}

/** Neither an id of a project nor a type holds a line break. */
export function subjectKey(projectId: string, subjectType: string, subjectId: string): string {
  return `${projectId}\n${subjectType}\n${subjectId}`;
}
