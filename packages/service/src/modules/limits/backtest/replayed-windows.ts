import { ONE_STORED } from '../../../kernel/decimal.js';
import { type TimeWindow, windowContains } from '../../../kernel/period.js';
import type { CountedValue } from '../windows/counted-values.js';
import { windowOpenedBy } from '../windows/first-use.js';
import { countsUntil, SLIDING_WINDOW, slidingChanges, slidingStepAt } from '../windows/sliding.js';
import type { WindowSum } from '../windows/subject-usage.js';
import { firstAlertAt, thresholdChangeOf } from '../windows/threshold-crossing.js';
import type { KnownValues } from '../windows/value-store.js';
import { changeOf } from '../windows/window-values.js';

/** Percentages of a limit that usage has reached. Amounts × 10^18, the limit with raises. */
export interface ReachedLimit {
  readonly percents: readonly number[];
  /** Undefined if it slides. */
  readonly window: TimeWindow | undefined;
  readonly used: bigint;
  readonly limit: bigint;
}

/** The windows of a rule and subject in a backtest. Usage is added in ascending time. */
export interface ReplayedWindows {
  /** The number of different values that are kept in memory. */
  readonly valueCount: number;
  /** Adds the usage of one event; returns what it has reached, if anything. */
  add(sum: WindowSum, atS: number): ReachedLimit | undefined;
}

/** Windows that follow each other: usage that comes in ascending time needs only the newest. */
export class SuccessiveWindows implements ReplayedWindows {
  #window: TimeWindow | undefined;
  #used = 0n;
  #limit = 0n;
  /** The usage at which the next alert is due; undefined after the last. */
  #next: bigint | undefined;
  readonly #reached = new Set<number>();
  #values = noValues();
  #isOpen = false;

  /** @param window a `first_use` window that the subject had when the usage to be added begins */
  constructor(window: TimeWindow | undefined) {
    this.#window = window;
  }

  get valueCount(): number {
    return this.#values.occurrences.size;
  }

  add(sum: WindowSum, atS: number): ReachedLimit | undefined {
    // Sums of 0 open no window.
    if (sum.used === 0n && sum.values === undefined) return undefined;
    const window = this.#placeOf(sum, atS);
    if (window === undefined) return undefined;
    const { rule, usage } = sum;
    if (!this.#isOpen || window.startS !== this.#window?.startS) this.#open(sum, window);
    const gained = this.#gain(sum);
    if (gained === 0n) return undefined;
    this.#used += gained;
    const raised = usage.route.raiseFor(rule, window, atS * 1_000);
    const change = thresholdChangeOf(rule, { limit: this.#limit, raised }, this.#next, this.#used);
    if (change === undefined) return undefined;
    this.#next = change.next;
    const percents = change.reached.filter((percent) => !this.#reached.has(percent));
    for (const percent of percents) this.#reached.add(percent);
    return { percents, window, used: this.#used, limit: this.#limit + raised };
  }

  #placeOf(sum: WindowSum, atS: number): TimeWindow | undefined {
    if (sum.rule.period.kind !== 'first_use') return sum.window;
    const last = this.#window;
    if (last === undefined || (atS >= last.startS && !windowContains(last, atS))) return windowOpenedBy(sum);
    return windowContains(last, atS) ? last : undefined;
  }

  #open({ usage, rule }: WindowSum, window: TimeWindow): void {
    this.#isOpen = true;
    this.#window = window;
    this.#used = 0n;
    this.#limit = usage.route.limitFor(rule, window);
    this.#next = firstAlertAt(rule, this.#limit);
    this.#reached.clear();
    this.#values = noValues();
  }

  /** Returns what the window gains × 10^18. A history of revisions in force takes no value back. */
  #gain(sum: WindowSum): bigint {
    if (sum.values === undefined) return sum.used;
    if (sum.rule.measure === 'max') return this.#greaterBy(sum.values.keys());
    const { occurrences, set } = changeOf(sum, this.#values);
    const gained = BigInt(set.kept - this.#values.set.kept) * ONE_STORED;
    for (const [value, times] of occurrences) this.#values.occurrences.set(value, times);
    this.#values = { ...this.#values, set };
    return gained;
  }

  #greaterBy(quantities: Iterable<CountedValue>): bigint {
    let greatest = this.#used;
    for (const quantity of quantities) {
      if (typeof quantity === 'bigint' && quantity > greatest) greatest = quantity;
    }
    return greatest - this.#used;
  }
}

interface ReplayedValues extends KnownValues {
  readonly occurrences: Map<string, number>;
}

function noValues(): ReplayedValues {
  return {
    occurrences: new Map(),
    set: { kept: 0, missed: 0, missedUpTo: undefined },
    greatest: undefined,
  };
}

/** Usage of a step of a sliding window × 10^18. */
interface ReplayedStep {
  readonly startS: number;
  readonly countsUntilS: number;
  used: bigint;
}

/** A window that slides: now is the time of each event. */
export class SlidingReplay implements ReplayedWindows {
  readonly valueCount = 0;
  #steps: ReplayedStep[] = [];
  #used = 0n;
  #open: readonly number[] = [];

  add(sum: WindowSum, atS: number): ReachedLimit | undefined {
    const { rule, usage } = sum;
    if (sum.used === 0n || rule.period.kind !== 'sliding') return undefined;
    const isOver = ({ countsUntilS }: ReplayedStep) => countsUntilS <= atS;
    for (const { used } of this.#steps.filter(isOver)) this.#used -= used;
    this.#steps = this.#steps.filter((step) => !isOver(step));
    const before = this.#used;
    this.#addToStep(sum.used, slidingStepAt(rule.period, atS), rule.period);
    const limit = usage.route.limitFor(rule, SLIDING_WINDOW);
    const moved = { sum, limit, before, after: this.#used };
    const [fallen, changed] = slidingChanges(moved, this.#open, atS * 1_000);
    const ended = [...fallen.recovered, ...changed.recovered];
    const percents = changed.reached;
    this.#open = [...this.#open.filter((percent) => !ended.includes(percent)), ...percents];
    if (percents.length === 0) return undefined;
    return { percents, window: undefined, used: this.#used, limit: limit + changed.raised };
  }

  #addToStep(
    used: bigint,
    { startS, endS }: { readonly startS: number; readonly endS: number },
    period: { readonly durationS: number },
  ): void {
    this.#used += used;
    const last = this.#steps.at(-1);
    if (last?.startS === startS) last.used += used;
    else this.#steps.push({ startS, countsUntilS: countsUntil(period, { endS }), used });
  }
}
