import type { LimitBacktestResult } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { rawEventIdText } from '../../../kernel/id.js';
import { memoized } from '../../../kernel/maps.js';
import type { LimitPeriod } from '../../../kernel/period.js';
import { amountText } from '../../ledger/index.js';
import type { PastUsage } from '../../usage/index.js';
import { windowIdOf } from '../check/limit-status.js';
import type { CompiledRule, LimitRuleIndex } from '../rules/index.js';
import { slidingStepAt } from '../windows/sliding.js';
import { takeAllSums, UsageCounter, type WindowSum } from '../windows/subject-usage.js';
import { WHOLE_PERCENT } from '../windows/threshold-crossing.js';
import {
  type ReachedLimit,
  type ReplayedWindows,
  SlidingReplay,
  SuccessiveWindows,
} from './replayed-windows.js';
import type { TestedSubject } from './tested-subjects.js';

/** The numbers of objects that a replay keeps in memory. */
export interface ReplayedAmounts {
  readonly windows: number;
  readonly values: number;
}

/**
 * Counts past usage by the rules of a plan, in ascending time, as posting does; collects the percentages that it would
 * have reached.
 */
export class LimitReplay {
  readonly results: LimitBacktestResult[] = [];
  readonly #counter = new UsageCounter();
  /** Unix seconds. Usage before it counts, but what it reaches is no result. */
  readonly #from: number;
  #windows = 0;
  #values = 0;

  constructor(from: number) {
    this.#from = from;
  }

  get kept(): ReplayedAmounts {
    return { windows: this.#windows, values: this.#values };
  }

  /** Counts an event for one subject. */
  count(subject: TestedSubject, event: PastUsage): void {
    this.#counter.add(subject.usage, event);
    for (const sum of takeAllSums(subject.usage)) this.#add(subject, sum, event);
  }

  #add({ windows, firstWindows }: TestedSubject, sum: WindowSum, event: PastUsage): void {
    const { rule, window } = sum;
    const { occurredAt } = event;
    const isOver = window.endS !== undefined && window.endS <= this.#from;
    if (isOver && !isPlacedByUsage(rule)) return;
    const replayed = memoized(windows, rule, () => this.#open(rule, firstWindows));
    const before = replayed.valueCount;
    const reached = replayed.add(sum, occurredAt);
    this.#values += replayed.valueCount - before;
    if (reached === undefined || occurredAt < this.#from) return;
    this.results.push(...resultsOf(sum, reached, event));
  }

  #open(rule: CompiledRule, firstWindows: TestedSubject['firstWindows']): ReplayedWindows {
    this.#windows++;
    return rule.period.kind === 'sliding'
      ? new SlidingReplay()
      : new SuccessiveWindows(firstWindows.get(rule));
  }
}

function isPlacedByUsage({ period }: CompiledRule): boolean {
  return period.kind === 'first_use' || period.kind === 'sliding';
}

function resultsOf(
  { usage: { subject }, rule }: WindowSum,
  { percents, window, used, limit }: ReachedLimit,
  { id, occurredAt }: PastUsage,
): LimitBacktestResult[] {
  return percents.map((percent) => ({
    subject_type: subject.type,
    subject_id: subject.id,
    limit_key: rule.limitKey,
    window_id: windowIdOf(rule.periodText, window),
    outcome: percent === WHOLE_PERCENT && rule.action === 'block' ? 'blocked' : 'warned',
    threshold_percent: percent,
    at: occurredAt,
    used_amount: amountText(used),
    limit_amount: amountText(limit),
    raw_event_id: rawEventIdText(id),
  }));
}

/** The longest of each unit, with the hours by which a change of clocks can lengthen it. */
const LONGEST_S = {
  minute: 60,
  hour: 2 * 3_600,
  day: 2 * DAY_S,
  week: 8 * DAY_S,
  month: 32 * DAY_S,
  year: 367 * DAY_S,
} as const;

/** Returns the Unix second from which usage can count in windows that are open at an instant. */
export function countedFrom({ rules }: LimitRuleIndex, atS: number): number {
  return Math.max(0, Math.min(atS, ...rules.map(({ period }) => atS - longestS(period))));
}

function longestS(period: LimitPeriod): number {
  switch (period.kind) {
    case 'lifetime':
      return Number.POSITIVE_INFINITY;
    case 'calendar':
      return LONGEST_S[period.unit];
    case 'anchored':
      return period.count * LONGEST_S[period.unit];
    case 'first_use':
      return period.durationS;
    case 'sliding':
      // A step counts as long as its last second does.
      return period.durationS + slidingStepAt(period, 0).endS;
  }
}

/** Returns the dimensions that rules depend on. */
export function dimensionsOf({ rules }: LimitRuleIndex): string[] {
  const keys = rules.flatMap(({ dimension, of }) => [dimension?.key, of]);
  return [...new Set(keys.filter((key) => key !== undefined))];
}
