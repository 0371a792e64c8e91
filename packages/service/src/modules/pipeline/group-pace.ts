import { performance } from 'node:perf_hooks';

/** Smaller groups than `events` of one storage follow each other no sooner than after `intervalMs`, from start to start. */
interface Pace {
  readonly events: number;
  readonly intervalMs: number;
}

/**
 * An insert costs as much as some 3,000 rows before its first row, and makes parts that must be merged. An event waits for one interval
 * and one insert at most, which leaves half of the second in which it should be queryable to the stages before. The number of
 * events is well above what comes in an interval under half of the full load: were it below, each group after the interval would be followed
 * at once by a small one of what came meanwhile. A backlog fills larger groups, and is not held up.
 */
const CALM: Pace = { events: 10_000, intervalMs: 400 };
/** Where single events keep the thread busy that accepts them, inserts are what can wait: a third of them takes half the time. */
const BUSY: Pace = { events: 30_000, intervalMs: 1_200 };
/** Batches at the full load use less of the thread. */
const BUSY_SHARE = 0.6;

/** How soon one group may follow another. */
export class GroupPace {
  /** @param useOfThread share of the time since it was last called in which this thread was busy */
  constructor(private readonly useOfThread: () => number = measureUse()) {}

  /** How long after the start of a group of so many events the next one of its storage may start. Call it once for each. */
  intervalMs(events: number): number {
    const pace = this.useOfThread() > BUSY_SHARE ? BUSY : CALM;
    return events < pace.events ? pace.intervalMs : 0;
  }
}

export function measureUse(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const before = last;
    last = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(last, before).utilization;
  };
}
