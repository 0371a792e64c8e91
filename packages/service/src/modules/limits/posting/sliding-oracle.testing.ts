import { fromStored, toText } from '../../../kernel/decimal.js';
import { stored } from '../../../testing/index.js';

export const DURATION_S = 3_600;
export const STEP_S = DURATION_S / 60;
export const LIMIT = '4';
export const NOTIFY_AT = [50];

/** Usage and when it was rated. */
export interface SlidingUse {
  readonly atS: number;
  readonly amount: bigint;
}

/** The sliding window by its definition: usage of a step counts as long as its last second does. */
export class SlidingOracle {
  readonly #counted: SlidingUse[] = [];
  /** When the steps that have usage do not count any more. */
  readonly #ends = new Set<number>();
  readonly #open = new Map<number, number>();
  readonly #sequences = new Map<number, number>();
  readonly alerts: string[] = [];

  post(events: readonly SlidingUse[], atS: number): void {
    this.#compare(atS, false);
    this.#drop(atS);
    const counted = events.filter((event) => this.#until(event) > atS);
    this.#counted.push(...counted);
    for (const [secondS, sum] of bySecond(counted))
      if (sum !== 0n) this.#ends.add(this.#until({ atS: secondS }));
    this.#compare(atS, true);
  }

  /** Without usage: compares when a step has ended since the latest batch. */
  settle(atS: number): void {
    if (this.#drop(atS)) this.#compare(atS, true);
  }

  #drop(atS: number): boolean {
    const ended = [...this.#ends].filter((endS) => endS <= atS);
    for (const endS of ended) this.#ends.delete(endS);
    return ended.length > 0;
  }

  used(atS: number): bigint {
    return this.#sum((event) => event.atS <= atS && atS < this.#until(event));
  }

  /** Returns the sum of usage that occurred after one instant, up to another. */
  between(afterS: number, untilS: number): bigint {
    return this.#sum(({ atS }) => atS > afterS && atS <= untilS);
  }

  #until({ atS }: Pick<SlidingUse, 'atS'>): number {
    return (Math.floor(atS / STEP_S) + 1) * STEP_S - 1 + DURATION_S;
  }

  #sum(isSlidingUse: (event: SlidingUse) => boolean): bigint {
    return this.#counted.filter(isSlidingUse).reduce((sum, { amount }) => sum + amount, 0n);
  }

  #compare(atS: number, isWithBatch: boolean): void {
    const used = this.used(atS);
    for (const percent of [...NOTIFY_AT, 100]) {
      const isReached = used * 100n >= stored(LIMIT) * BigInt(percent);
      const sequence = this.#open.get(percent);
      if (isReached && sequence === undefined && isWithBatch) {
        const next = (this.#sequences.get(percent) ?? 0) + 1;
        this.#sequences.set(percent, next);
        this.#open.set(percent, next);
        this.#send(percent === 100 ? 'exceeded' : 'threshold_reached', percent, next, used);
      } else if (!isReached && sequence !== undefined) {
        this.#open.delete(percent);
        this.#send('recovered', percent, sequence, used);
      }
    }
  }

  #send(type: string, percent: number, sequence: number, used: bigint): void {
    this.alerts.push(`${type} ${percent}#${sequence} at ${toText(fromStored(used))}`);
  }
}

/** Returns the sum of usage in each second. */
export function bySecond(events: readonly SlidingUse[]): Map<number, bigint> {
  const sums = new Map<number, bigint>();
  for (const { atS, amount } of events) sums.set(atS, (sums.get(atS) ?? 0n) + amount);
  return sums;
}
