import type { LimitedSubject, OpenRule } from '../check/limit-status.js';
import type { AccountDebits } from '../posting/debits.js';
import type { PostingScope } from '../posting/rated-usage.js';
import type { CompiledRoute, SubjectRef } from '../rules/index.js';

/** The sum that one batch adds to one window of a subject. */
export interface WindowSum extends OpenRule {
  readonly usage: SubjectUsage;
  /** × 10^18, of an amount or a quantity, as the rule measures. */
  used: bigint;
}

/** A subject that has a route, with what one batch adds to its windows. */
export interface SubjectUsage {
  readonly scope: PostingScope;
  readonly subject: LimitedSubject;
  readonly route: CompiledRoute;
  readonly account: AccountDebits;
  /** For each rule of the route, at the rule's place: the window that the latest event fell into. */
  readonly latest: (WindowSum | undefined)[];
  /** All windows by rule and start, once a rule has more than one. */
  all: Map<string, WindowSum> | undefined;
}

/** Returns the reference by which the catalog finds the subject's route. */
export function subjectRef({ scope, subject }: Pick<SubjectUsage, 'scope' | 'subject'>): SubjectRef {
  return { projectId: scope.projectId, subjectType: subject.type, subjectId: subject.id };
}

/** Whether anything is to be added to windows. */
export function hasWindowSums({ latest, all }: SubjectUsage): boolean {
  return all === undefined ? latest.some(isCounted) : [...all.values()].some(isCounted);
}

/** Returns the sums to add to windows, those of a rule in ascending time; sums of 0 are left out. */
export function windowSums({ latest, all }: SubjectUsage): WindowSum[] {
  if (all === undefined) return latest.filter(isCounted);
  return [...all.values()].filter(isCounted).sort((a, b) => a.window.startS - b.window.startS);
}

function isCounted(sum: WindowSum | undefined): sum is WindowSum {
  return sum !== undefined && sum.used !== 0n;
}
