import type { LimitedSubject, OpenRule } from '../check/limit-status.js';
import type { AccountDebits } from '../posting/debits.js';
import type { PostingScope } from '../posting/rated-usage.js';
import type { CompiledRoute, SubjectRef } from '../rules/index.js';

/** What one batch adds to one window of a subject. */
export interface WindowSum extends OpenRule {
  readonly usage: SubjectUsage;
  /** × 10^18: of amounts or quantities, as the rule measures. */
  used: bigint;
}

/** What one batch knows of a subject that has a route, and adds to its windows. */
export interface SubjectUsage {
  readonly scope: PostingScope;
  readonly subject: LimitedSubject;
  readonly route: CompiledRoute;
  readonly account: AccountDebits;
  /** For each rule of the route, by its place, the window that the latest event fell into. */
  readonly latest: (WindowSum | undefined)[];
  /** All windows by rule and start, once a rule has more than one. */
  all: Map<string, WindowSum> | undefined;
}

/** As the catalog is asked for its route. */
export function subjectRef({ scope, subject }: Pick<SubjectUsage, 'scope' | 'subject'>): SubjectRef {
  return { projectId: scope.projectId, subjectType: subject.type, subjectId: subject.id };
}

/** Whether anything is to be added to windows. */
export function hasWindowSums({ latest, all }: SubjectUsage): boolean {
  return all === undefined ? latest.some(isCounted) : [...all.values()].some(isCounted);
}

/** What is to be added to windows, those of a rule in the order of time; sums of 0 are not. */
export function windowSums({ latest, all }: SubjectUsage): WindowSum[] {
  if (all === undefined) return latest.filter(isCounted);
  return [...all.values()].filter(isCounted).sort((a, b) => a.window.startS - b.window.startS);
}

function isCounted(sum: WindowSum | undefined): sum is WindowSum {
  return sum !== undefined && sum.used !== 0n;
}
