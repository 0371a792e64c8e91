import { BoundedMap } from '../../../kernel/bounded-map.js';
import { groupBy } from '../../../kernel/maps.js';
import type { TimeWindow, WindowSettings } from '../../../kernel/period.js';
import { present } from '../../../kernel/present.js';
import { keyNumber } from '../../../platform/changes/index.js';
import { DimensionRules } from './dimension-rules.js';
import { type CompiledRaise, raisedBy } from './raise.js';
import type { CompiledRule } from './rule.js';

/** Upper bound of the metrics whose rules are cached. */
export const METRICS_CACHED_MAX = 1_000;

/** Rules that select a metric, by the dimension that they require. */
interface MetricRules {
  readonly unscoped: readonly CompiledRule[];
  readonly scoped: readonly DimensionRules[];
}

const NONE: readonly CompiledRule[] = [];

/**
 * The rules that apply to a subject. Finding the rules of a charge item costs as much as the number of rules found, not
 * as the number of all rules.
 */
export class LimitRuleIndex {
  /** The limits on concurrent work, which count leases and no usage. */
  readonly ofLeases: readonly CompiledRule[];
  readonly #ofAll: readonly CompiledRule[];
  readonly #byMetric: ReadonlyMap<string, readonly CompiledRule[]>;
  readonly #byPrefix: ReadonlyMap<string, readonly CompiledRule[]>;
  /** Whether windows of a rule open with usage. */
  readonly hasFirstUse: boolean;
  /** Whether windows of a rule slide. */
  readonly hasSliding: boolean;
  readonly #cached = new BoundedMap<string, MetricRules>(METRICS_CACHED_MAX);

  /** @param rules in the order in which they are shown and visited */
  constructor(readonly rules: readonly CompiledRule[]) {
    const ofUsage = rules.filter(({ measure }) => measure !== 'concurrency');
    const ofType = (type: CompiledRule['selectorType']) =>
      ofUsage.filter(({ selectorType }) => selectorType === type);
    this.ofLeases = rules.filter(({ measure }) => measure === 'concurrency');
    this.hasSliding = rules.some(({ period }) => period.kind === 'sliding');
    this.hasFirstUse = rules.some(({ period }) => period.kind === 'first_use');
    this.#ofAll = ofType('all');
    this.#byMetric = byMetric([...ofType('metric'), ...ofType('metrics')]);
    this.#byPrefix = groupBy(ofType('metric_prefix'), ({ selectorValue }) => selectorValue);
  }

  /**
   * Visits the rules that select a metric and the dimensions. The caller checks measure and currency.
   *
   * @param textOf returns the text of a dimension; undefined for an absent one
   */
  visit(
    metric: string,
    textOf: (dimension: string) => string | undefined,
    visit: (rule: CompiledRule) => void,
  ): void {
    const { unscoped, scoped } = this.#ofMetric(metric);
    for (const rule of unscoped) visit(rule);
    for (const ofDimension of scoped) {
      const text = textOf(ofDimension.key);
      if (text === undefined) continue;
      for (const rule of ofDimension.of(text)) visit(rule);
    }
  }

  #ofMetric(metric: string): MetricRules {
    const known = this.#cached.get(metric);
    if (known !== undefined) return known;
    const rules = [...this.#ofAll, ...(this.#byMetric.get(metric) ?? NONE)];
    if (this.#byPrefix.size > 0) {
      for (let length = 1; length <= metric.length; length += 1) {
        rules.push(...(this.#byPrefix.get(metric.slice(0, length)) ?? NONE));
      }
    }
    const found = byDimension(rules);
    this.#cached.set(metric, found);
    return found;
  }
}

function byMetric(rules: readonly CompiledRule[]): ReadonlyMap<string, readonly CompiledRule[]> {
  const selected = rules.flatMap((rule) => {
    const metrics = rule.selectorType === 'metrics' ? rule.selectorValues : [rule.selectorValue];
    return metrics.map((metric) => ({ metric, rule }));
  });
  const grouped = groupBy(selected, ({ metric }) => metric);
  return new Map([...grouped].map(([metric, found]) => [metric, found.map(({ rule }) => rule)]));
}

function byDimension(rules: readonly CompiledRule[]): MetricRules {
  const scoped = rules.filter(({ dimension }) => dimension !== undefined);
  return {
    unscoped: rules.filter(({ dimension }) => dimension === undefined),
    scoped: [...groupBy(scoped, ({ dimension }) => dimension?.key ?? '')].map(
      ([key, ofKey]) => new DimensionRules(key, ofKey),
    ),
  };
}

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

/** A subject, as requests and events name it. */
export interface LimitedSubject {
  readonly type: string;
  readonly id: string;
}

/** A subject and the route that applies to it. */
export interface RoutedSubject {
  readonly subject: LimitedSubject;
  readonly route: CompiledRoute;
}

/** One level of a subject: the subject itself, its parent, the parent of that, and so on. */
export interface SubjectLevel extends RoutedSubject {
  /** 0 for the subject itself. */
  readonly level: number;
}

/** Returns the levels of a subject, its own first. */
export function levelsOf(own: RoutedSubject): SubjectLevel[] {
  const levels: SubjectLevel[] = [];
  let next: RoutedSubject | undefined = own;
  while (next !== undefined) {
    levels.push({ ...next, level: levels.length });
    next = next.route.parent;
  }
  return levels;
}

/** The account, settings and rules of the subjects of one route. Routes of one plan share its rules. */
export class CompiledRoute {
  readonly #planBoundAtMs: number;
  readonly #raises: readonly CompiledRaise[];

  constructor(
    readonly routeId: string,
    /** The account that pays: of the route or, without one, the nearest above. */
    readonly account: RouteAccount,
    readonly settings: WindowSettings,
    readonly rules: LimitRuleIndex,
    planBoundAtMs: number,
    raises: readonly CompiledRaise[] = [],
    /** The level above. */
    readonly parent: RoutedSubject | undefined = undefined,
  ) {
    this.#planBoundAtMs = planBoundAtMs;
    this.#raises = raises;
  }

  /**
   * Returns the limit × 10^18 of a window of one of this route's rules, without raises. A sliding window is always
   * open, and concurrent work has no window, so a changed limit applies at once.
   */
  limitFor(rule: CompiledRule, window: TimeWindow): bigint {
    if (rule.period.kind === 'sliding' || rule.measure === 'concurrency') return rule.amounts.newest;
    return rule.amounts.amountOf(window, rule.planId === null ? 0 : this.#planBoundAtMs);
  }

  /** Returns the amount × 10^18 by which raises lift the limit of a window now. */
  raiseFor({ limitKey }: CompiledRule, window: TimeWindow, nowMs: number): bigint {
    return this.#raises.length === 0 ? 0n : raisedBy(this.#raises, limitKey, window, nowMs);
  }
}

export interface PlanRef {
  readonly projectId: string;
  readonly planId: string;
  /** The published revision; the plan that is read may be newer. */
  readonly revision: number;
}

export interface RouteRead extends SubjectRef {
  readonly routeId: string;
  /** Undefined for a route that leaves the account to its parent. */
  readonly account: RouteAccount | undefined;
  readonly parent: LimitedSubject | undefined;
  readonly settings: WindowSettings;
  readonly plan: (PlanRef & { readonly boundAtMs: number }) | undefined;
  readonly hasDirectLimits: boolean;
  readonly raises: readonly CompiledRaise[];
}

/**
 * Compiles routes that were read together with all routes above them.
 *
 * @returns the routes by `subjectKey`
 * @throws Error when a route above is missing, or no account pays: the routes must not be counted with
 */
export function compileRoutes(
  read: readonly RouteRead[],
  rulesOf: (route: RouteRead) => LimitRuleIndex,
): ReadonlyMap<string, CompiledRoute> {
  const unlinked = new Map(
    read.map((route) => [subjectKey(route.projectId, route.subjectType, route.subjectId), route]),
  );
  const compiled = new Map<string, CompiledRoute>();
  const compile = (key: string, route: RouteRead): CompiledRoute => {
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const parent = parentOf(route);
    const { routeId, settings, plan, raises } = route;
    const account = present(route.account ?? parent?.route.account, `the account of route ${routeId}`);
    const boundAtMs = plan?.boundAtMs ?? 0;
    const done = new CompiledRoute(routeId, account, settings, rulesOf(route), boundAtMs, raises, parent);
    compiled.set(key, done);
    return done;
  };
  const parentOf = ({ projectId, parent, routeId }: RouteRead): RoutedSubject | undefined => {
    if (parent === undefined) return undefined;
    const keys = [parent.id, EVERY_SUBJECT].map((id) => subjectKey(projectId, parent.type, id));
    const key = present(
      keys.find((each) => unlinked.has(each)),
      `the route above route ${routeId}`,
    );
    return { subject: parent, route: compile(key, present(unlinked.get(key), 'a route')) };
  };
  for (const [key, route] of unlinked) compile(key, route);
  return compiled;
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

export function areSameSubject(a: LimitedSubject, b: LimitedSubject): boolean {
  return a.type === b.type && a.id === b.id;
}

/** Neither a project id nor a type contains a line break, so the key is unambiguous. */
export function subjectKey(projectId: string, subjectType: string, subjectId: string): string {
  return `${projectId}\n${subjectType}\n${subjectId}`;
}

/** Returns the number of a subject in notes of changes. */
export function subjectNumber(projectNo: number, { type, id }: LimitedSubject): number {
  return keyNumber(`${projectNo} ${type} ${id}`);
}
