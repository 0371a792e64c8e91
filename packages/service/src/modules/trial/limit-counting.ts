import { LIMIT_BACKTEST_RESULTS_MAX, type LimitBacktest } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import {
  type CandidateSubjects,
  countedFrom,
  dimensionsOf,
  LimitReplay,
  type TestedPlan,
  TestedSubjects,
  testedRules,
} from '../limits/index.js';
import { ProjectHistory } from '../storage/index.js';
import { type PastUsage, type PastUsageSelection, readPastUsage, type UsageScope } from '../usage/index.js';
import { type OnProgress, Progress } from './progress.js';
import { REPLAY_BOUNDS, type ReplayBounds } from './replay.js';

/** A plan and the usage to test it on, in a form that can be sent to another thread. Times are Unix seconds. */
export interface LimitBacktestWork {
  readonly project: ProjectRef;
  readonly scope: UsageScope;
  readonly plan: TestedPlan;
  readonly from: number;
  readonly to: number;
  readonly candidates: CandidateSubjects;
  /** As in `TestedSubjects`. */
  readonly countsAnyPlan: boolean;
}

/** The results of a backtest of limits, as they are stored. */
export interface LimitBacktestFindings
  extends Pick<LimitBacktest, 'results' | 'truncated' | 'counted_until'> {
  readonly event_count: number;
}

/** The part of a backtest of limits that reads and counts usage, on any thread. */
export type CountLimits = (
  work: LimitBacktestWork,
  signal: AbortSignal,
  onProgress: OnProgress,
) => Promise<LimitBacktestFindings>;

export interface LimitCountingBounds extends ReplayBounds {
  readonly resultsMax: number;
  /** Upper bounds of what is kept in memory: subjects, windows, and the different values of `unique` limits. */
  readonly subjectsMax: number;
  readonly windowsMax: number;
  readonly valuesMax: number;
}

export interface LimitCountingDeps {
  readonly postgres: Pick<Postgres, 'db' | 'pool'>;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly clock: Clock;
  /** Overrides for tests. */
  readonly bounds?: Partial<LimitCountingBounds>;
}

const COUNTING_BOUNDS: LimitCountingBounds = {
  ...REPLAY_BOUNDS,
  // Rows without what was sent are small.
  pageEventsMax: 5_000,
  resultsMax: LIMIT_BACKTEST_RESULTS_MAX,
  subjectsMax: 100_000,
  windowsMax: 200_000,
  valuesMax: 500_000,
};

/** Returns which events the rules of a plan count, also before `from` in windows that are open then. */
export function countedSelection({
  plan,
  from,
  to,
  candidates,
}: Pick<LimitBacktestWork, 'plan' | 'from' | 'to' | 'candidates'>) {
  const rules = testedRules(plan);
  const selection: PastUsageSelection = {
    ...candidates,
    from: countedFrom(rules, from),
    to,
    dimensions: dimensionsOf(rules),
  };
  return { rules, selection };
}

/**
 * Counts stored usage by the rules of a plan, event by event in the order of time. Reads, and writes nothing.
 *
 * @param onProgress as in `replay`
 * @throws the signal's reason once that is aborted
 */
export async function countLimits(
  { postgres, clickhouse, clock, bounds: overrides }: LimitCountingDeps,
  work: LimitBacktestWork,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<LimitBacktestFindings> {
  const { project, scope, plan, from, to, candidates, countsAnyPlan } = work;
  const bounds = { ...COUNTING_BOUNDS, ...overrides };
  const { rules, selection } = countedSelection(work);
  const history = new ProjectHistory(clickhouse, scope);
  const subjects = new TestedSubjects({
    ...{ postgres, scope: project, planId: plan.planId, rules, from },
    ...{ candidates, countsAnyPlan },
  });
  const replay = new LimitReplay(from);
  const endMs = clock.nowMs() + bounds.secondsMax * 1_000;
  let eventCount = 0;
  const progress = new Progress(signal, () => onProgress(eventCount));
  const isFull = () =>
    eventCount >= bounds.eventsMax ||
    clock.nowMs() >= endMs ||
    replay.results.length > bounds.resultsMax ||
    subjects.count > bounds.subjectsMax ||
    replay.kept.windows > bounds.windowsMax ||
    replay.kept.values > bounds.valuesMax;
  const findings = (stoppedAt: PastUsage | undefined): LimitBacktestFindings => {
    const results = replay.results.slice(0, bounds.resultsMax);
    const leftOut = replay.results[bounds.resultsMax];
    const countedUntil = leftOut?.at ?? stoppedAt?.occurredAt;
    return {
      results,
      truncated: countedUntil !== undefined,
      counted_until: Math.max(from, countedUntil ?? to),
      event_count: eventCount,
    };
  };
  let after: string | undefined;
  for (;;) {
    const page = { eventsMax: bounds.pageEventsMax, bytesMax: bounds.pageBytesMax };
    const events = await readPastUsage(history, selection, after, page, signal);
    if (events.length === 0) return findings(undefined);
    after = events.at(-1)?.id;
    await subjects.meet(events.flatMap(({ subject, parents }) => [subject, ...parents]));
    for (const event of events) {
      if (isFull()) return findings(event);
      for (const subject of [event.subject, ...event.parents]) {
        const tested = subjects.of(subject);
        if (tested !== undefined) replay.count(tested, event);
      }
      eventCount++;
      if (progress.isDue) await progress.tell();
    }
    await progress.tell();
  }
}
