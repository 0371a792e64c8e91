import type { TimeWindow } from '../../../kernel/period.js';

/** One step of what a rule has allowed. */
export interface AmountChange {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Limit × 10^18; undefined where the rule ended, for a time. */
  readonly amount: bigint | undefined;
  /** Whether windows that are open take it too, and not only those that open later. */
  readonly opensNow: boolean;
}

/** What a rule has allowed over time: a pure function from windows to limits. */
export class AmountTimeline {
  /** @param changes in rising time; the last one has an amount */
  constructor(private readonly changes: readonly AmountChange[]) {}

  /**
   * The limit × 10^18 of a window: that of the newest change when it opened, unless a later one within the window takes
   * effect at once. It opens at its start or, when the rule was not there yet, as soon as it is.
   *
   * @param appliesFromMs the rule reached the subject no earlier
   */
  amountOf(window: TimeWindow, appliesFromMs: number): bigint {
    const openMs = Math.max(window.startS * 1_000, appliesFromMs);
    const endMs = window.endS === undefined ? Number.POSITIVE_INFINITY : window.endS * 1_000;
    const index = this.changes.findLastIndex(
      ({ atMs, opensNow }) => atMs <= openMs || (opensNow && atMs < endMs),
    );
    const amount = this.changes[index]?.amount ?? this.#firstAfter(index);
    if (amount === undefined) throw new Error('a timeline must end with an amount');
    return amount;
  }

  #firstAfter(index: number): bigint | undefined {
    return this.changes.find(({ amount }, at) => at > index && amount !== undefined)?.amount;
  }
}
