import type { TimeWindow } from '../../../kernel/period.js';

/** One change of the amount that a rule allows. */
export interface AmountChange {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Limit × 10^18; undefined while the rule does not exist. */
  readonly amount: bigint | undefined;
  /** Whether open windows take the amount too, and not only those that open later. */
  readonly opensNow: boolean;
}

/** The amounts that a rule has allowed over time: a pure function from windows to limits. */
export class AmountTimeline {
  readonly #changes: readonly AmountChange[];

  /** @param changes in ascending time; the last one has an amount */
  constructor(changes: readonly AmountChange[]) {
    this.#changes = changes;
  }

  /**
   * Returns the limit × 10^18 of a window: the amount of the newest change when the window opened, or of a later change
   * within the window that takes effect at once. A window opens at its start or, when the rule did not exist then, as
   * soon as it does.
   *
   * @param appliesFromMs the earliest time at which the rule applied to the subject
   */
  amountOf(window: TimeWindow, appliesFromMs: number): bigint {
    const openMs = Math.max(window.startS * 1_000, appliesFromMs);
    const endMs = window.endS === undefined ? Number.POSITIVE_INFINITY : window.endS * 1_000;
    const index = this.#changes.findLastIndex(
      ({ atMs, opensNow }) => atMs <= openMs || (opensNow && atMs < endMs),
    );
    const amount = this.#changes[index]?.amount ?? this.#firstAfter(index);
    if (amount === undefined) throw new Error('a timeline must end with an amount');
    return amount;
  }

  /** The limit × 10^18 that applies now. */
  get newest(): bigint {
    const amount = this.#changes.at(-1)?.amount;
    if (amount === undefined) throw new Error('a timeline must end with an amount');
    return amount;
  }

  #firstAfter(index: number): bigint | undefined {
    return this.#changes.find(({ amount }, at) => at > index && amount !== undefined)?.amount;
  }
}
