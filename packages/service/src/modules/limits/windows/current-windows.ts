import type { TimeWindow } from '../../../kernel/period.js';
import { amountFromText, numericText } from '../../ledger/index.js';
import type { SubjectUsage, WindowSum } from './subject-usage.js';
import { type ThresholdChange, thresholdChangeOf } from './threshold-crossing.js';

/** A window that usage has opened. Amounts × 10^18. */
export interface OpenedWindow {
  readonly usage: SubjectUsage;
  readonly ruleNo: number;
  readonly startS: number;
  readonly endS: number | null;
  readonly used: bigint;
  readonly limit: bigint;
  /** The usage at which its next alert is due; undefined after the last. */
  readonly next: bigint | undefined;
  readonly openedAtMs: number;
}

/** A window whose usage has passed a threshold. Amounts × 10^18. */
export interface ChangedWindow extends ThresholdChange {
  readonly sum: WindowSum;
  readonly used: bigint;
  /** Without raises. */
  readonly limit: bigint;
  /** The amount that raises add to the limit. */
  readonly raised: bigint;
}

/**
 * The windows of a subject, one for each rule, as lists of equal length. Many subjects share lists, so no list is
 * changed in place.
 */
export interface WindowLists {
  readonly ruleNos: readonly number[];
  readonly starts: readonly number[];
  readonly ends: readonly (number | null)[];
  readonly limits: readonly bigint[];
  readonly notices: readonly (bigint | undefined)[];
  readonly openedAtMs: readonly number[];
}

export const NO_WINDOWS: WindowLists = {
  ruleNos: [],
  starts: [],
  ends: [],
  limits: [],
  notices: [],
  openedAtMs: [],
};

/** The newest window of each rule of a subject: a row of `current_windows`, which the batch reads and writes back. */
export class CurrentWindows {
  /** Which columns have to be written. */
  change: 'none' | 'used' | 'all' = 'none';
  #lists: WindowLists;
  readonly #used: string[];

  /**
   * @param used decimals, parsed only when something is added to them; the list is taken over
   * @throws Error when the lists differ in length: such a row must not be counted with
   */
  constructor(
    readonly usage: SubjectUsage,
    lists: WindowLists = NO_WINDOWS,
    used: string[] = [],
  ) {
    assertOneLength(lists, used);
    this.#lists = lists;
    this.#used = used;
  }

  get lists(): WindowLists {
    return this.#lists;
  }

  /** Decimals, in the order of the lists. */
  get used(): readonly string[] {
    return this.#used;
  }

  /** Returns the current window of a rule; undefined when the subject has none. */
  windowOf(ruleNo: number): TimeWindow | undefined {
    const at = this.#lists.ruleNos.indexOf(ruleNo);
    if (at < 0) return undefined;
    const { startS, endS } = this.#windowAt(at);
    return { startS, endS: endS ?? undefined };
  }

  /** Whether a window is the current one of its rule, is newer and will replace it, or is older. */
  placeOf({ rule, window }: WindowSum): 'current' | 'newer' | 'past' {
    const at = this.#lists.ruleNos.indexOf(rule.ruleNo);
    const startS = this.#lists.starts[at];
    if (startS === undefined || window.startS > startS) return 'newer';
    return window.startS === startS ? 'current' : 'past';
  }

  /**
   * Adds to a current window.
   *
   * @param raised the amount × 10^18 by which raises lift its limit now
   * @returns the thresholds that the usage has passed, if there are any
   * @throws Error when the window is not a current one
   */
  add(sum: WindowSum, raised: bigint): ChangedWindow | undefined {
    const { ruleNos, limits, notices } = this.#lists;
    const at = ruleNos.indexOf(sum.rule.ruleNo);
    const used = amountFromText(windowValue(this.#used[at], 'usage', at)) + sum.used;
    if (sum.used !== 0n) {
      this.#used[at] = numericText(used);
      if (this.change === 'none') this.change = 'used';
    }
    const limit = windowValue(limits[at], 'limit', at);
    const change = thresholdChangeOf(sum.rule, { limit, raised }, notices[at], used);
    if (change === undefined) return undefined;
    this.#lists = { ...this.#lists, notices: replaced(notices, at, change.next) };
    this.change = 'all';
    return { sum, used, limit, raised, ...change };
  }

  /** Makes a window the current one of its rule; returns the previous one. */
  open(window: OpenedWindow): OpenedWindow | undefined {
    const { ruleNos } = this.#lists;
    const known = ruleNos.indexOf(window.ruleNo);
    const before = known < 0 ? undefined : this.#windowAt(known);
    const at = known < 0 ? ruleNos.length : known;
    this.#lists = {
      ruleNos: replaced(ruleNos, at, window.ruleNo),
      starts: replaced(this.#lists.starts, at, window.startS),
      ends: replaced(this.#lists.ends, at, window.endS),
      limits: replaced(this.#lists.limits, at, window.limit),
      notices: replaced(this.#lists.notices, at, window.next),
      openedAtMs: replaced(this.#lists.openedAtMs, at, window.openedAtMs),
    };
    this.#used[at] = numericText(window.used);
    this.change = 'all';
    return before;
  }

  #windowAt(at: number): OpenedWindow {
    const { ruleNos, starts, ends, limits, notices, openedAtMs } = this.#lists;
    return {
      usage: this.usage,
      ruleNo: windowValue(ruleNos[at], 'rule', at),
      startS: windowValue(starts[at], 'start', at),
      // A lifetime window has no end: null.
      endS: windowValue(ends[at], 'end', at),
      used: amountFromText(windowValue(this.#used[at], 'usage', at)),
      limit: windowValue(limits[at], 'limit', at),
      next: notices[at],
      openedAtMs: windowValue(openedAtMs[at], 'opening time', at),
    };
  }
}

/**
 * @throws Error when the value is missing. The batch must stop: a missing value that became zero would change what is
 * charged.
 */
function windowValue<Value>(value: Value | undefined, name: string, at: number): Value {
  if (value === undefined) throw new Error(`the window at ${at} has no ${name}`);
  return value;
}

function assertOneLength(lists: WindowLists, used: readonly string[]): void {
  const { ruleNos, starts, ends, limits, notices, openedAtMs } = lists;
  const { length } = ruleNos;
  for (const list of [starts, ends, limits, notices, openedAtMs, used]) {
    if (list.length !== length)
      throw new Error(`a row of current windows has lists of ${length} and of ${list.length}`);
  }
}

function replaced<Value>(list: readonly Value[], at: number, value: Value): Value[] {
  const copy = [...list];
  copy[at] = value;
  return copy;
}
