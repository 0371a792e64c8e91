import type { TimeWindow } from '../../../kernel/period.js';
import { present } from '../../../kernel/present.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { readUsage } from '../check/limit-status-store.js';
import { AccountDebits } from '../posting/debits.js';
import type { PostingScope } from '../posting/rated-usage.js';
import { catalogSource } from '../rules/catalog-store.js';
import {
  compileRoutes,
  EVERY_SUBJECT,
  type LimitedSubject,
  type LimitRuleIndex,
  RouteIndex,
  type SubjectRef,
  subjectKey,
} from '../rules/route-rules.js';
import type { CompiledRule } from '../rules/rule.js';
import { type SubjectUsage, withoutUsage } from '../windows/subject-usage.js';
import type { CandidateSubjects } from './candidate-subjects-store.js';
import type { ReplayedWindows } from './replayed-windows.js';

/** A subject whose usage a backtest counts. */
export interface TestedSubject {
  readonly usage: SubjectUsage;
  /** The `first_use` windows in which the backtest begins, by rule. */
  readonly firstWindows: ReadonlyMap<CompiledRule, TimeWindow>;
  readonly windows: Map<CompiledRule, ReplayedWindows>;
}

export interface TestedSubjectsParts {
  readonly postgres: Pick<Postgres, 'db' | 'pool'>;
  readonly scope: PostingScope;
  readonly planId: string;
  readonly rules: LimitRuleIndex;
  /** Unix seconds. */
  readonly from: number;
  /** No other subjects are counted. */
  readonly candidates: CandidateSubjects;
  /** Whether a candidate is counted whatever its plan, and not only if its route uses the plan. */
  readonly countsAnyPlan: boolean;
}

/** The subjects that a backtest has met, each with its route, or that it is not counted. */
export class TestedSubjects {
  readonly #parts: TestedSubjectsParts;
  readonly #known = new Map<string, TestedSubject | undefined>();
  readonly #types: ReadonlySet<string>;
  readonly #named: ReadonlySet<string> | undefined;

  constructor(parts: TestedSubjectsParts) {
    const { types, subjects } = parts.candidates;
    this.#parts = parts;
    this.#types = new Set(types);
    this.#named = subjects && new Set(subjects.map((subject) => this.#keyOf(subject)));
  }

  /** The number of subjects that were met. */
  get count(): number {
    return this.#known.size;
  }

  /** Looks up the routes of candidates that were not met before. */
  async meet(subjects: readonly LimitedSubject[]): Promise<void> {
    const missing = new Map<string, LimitedSubject>();
    for (const subject of subjects) {
      const key = this.#keyOf(subject);
      if (this.#known.has(key) || !this.#types.has(subject.type)) continue;
      if (this.#named === undefined || this.#named.has(key)) missing.set(key, subject);
    }
    if (missing.size === 0) return;
    const { postgres, scope, rules, planId, countsAnyPlan } = this.#parts;
    const read = await catalogSource.readRoutes(postgres.db, this.#refsOf([...missing.values()]));
    const compiled = new RouteIndex(compileRoutes(read, () => rules));
    const ofPlan = new Set(read.filter(({ plan }) => plan?.planId === planId).map(({ routeId }) => routeId));
    const tested: SubjectUsage[] = [];
    for (const [key, subject] of missing) {
      this.#known.set(key, undefined);
      const route = compiled.resolve(scope.projectId, subject.type, subject.id);
      if (route === undefined || (!countsAnyPlan && !ofPlan.has(route.routeId))) continue;
      // Wallets pay nothing in a backtest.
      const account = new AccountDebits(route.account.id, scope, 0);
      tested.push(withoutUsage({ scope, subject, route, account }));
    }
    const firstWindows = await this.#firstWindowsOf(tested);
    for (const [index, usage] of tested.entries()) {
      const ofSubject = present(firstWindows[index], 'the first windows of a subject');
      this.#known.set(this.#keyOf(usage.subject), { usage, firstWindows: ofSubject, windows: new Map() });
    }
  }

  /** Returns a subject that was met; undefined when its usage is not counted. */
  of(subject: LimitedSubject): TestedSubject | undefined {
    return this.#known.get(this.#keyOf(subject));
  }

  /**
   * Returns the windows of `first_use` rules in which the backtest begins. Usage in the duration of a rule before that
   * determines them, unless the rule has counted before: then the stored window, which usage of a longer time has
   * placed, is the one.
   */
  async #firstWindowsOf(subjects: readonly SubjectUsage[]): Promise<ReadonlyMap<CompiledRule, TimeWindow>[]> {
    const found = subjects.map(() => new Map<CompiledRule, TimeWindow>());
    const { postgres, scope, rules, from } = this.#parts;
    const { projectId, projectNo } = scope;
    if (!rules.hasFirstUse) return found;
    for (const rule of rules.rules) {
      if (rule.period.kind !== 'first_use') continue;
      const { durationS } = rule.period;
      // The later instant is read last, so that its window is the one that stays.
      for (const atS of [from - durationS, from]) {
        const queries = subjects.map(({ subject, route }) => ({
          projectId,
          projectNo,
          rules: [{ at: { subject, route, level: 0 }, rule, window: startingAt(atS), value: undefined }],
          wallet: undefined,
        }));
        for (const [index, { counted }] of (await readUsage(postgres, queries)).entries()) {
          const { opened } = present(counted[0], 'a stored window');
          if (opened !== undefined) found[index]?.set(rule, opened);
        }
      }
    }
    return found;
  }

  /** The routes for every subject of a type, too: a subject without a route of its own has that one. */
  #refsOf(subjects: readonly LimitedSubject[]): SubjectRef[] {
    const { projectId } = this.#parts.scope;
    const types = new Set(subjects.map(({ type }) => type));
    return [
      ...[...types].map((subjectType) => ({ projectId, subjectType, subjectId: EVERY_SUBJECT })),
      ...subjects.map(({ type, id }) => ({ projectId, subjectType: type, subjectId: id })),
    ];
  }

  #keyOf({ type, id }: LimitedSubject): string {
    return subjectKey(this.#parts.scope.projectId, type, id);
  }
}

function startingAt(startS: number): TimeWindow {
  return { startS, endS: undefined };
}
