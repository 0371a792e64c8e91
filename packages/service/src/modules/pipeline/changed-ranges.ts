/** A stretch of `occurred_at` in Unix seconds, `from` inclusive and `to` exclusive. */
export interface ChangedRange {
  readonly from: number;
  readonly to: number;
}

const MINUTE_S = 60;
/**
 * More spans than this are joined over the smallest gaps between them: what did not change may be told, never
 * the reverse.
 */
export const CHANGED_RANGES_MAX = 16;

/** The minutes in which a project's charge items of one batch lie. */
export class ChangedMinutes {
  readonly #minutes = new Set<number>();
  #last = -1;

  add(occurredAt: number): void {
    const minute = Math.floor(occurredAt / MINUTE_S);
    // Events that follow each other lie in one minute almost always.
    if (minute === this.#last) return;
    this.#last = minute;
    this.#minutes.add(minute);
  }

  /** Rising, with gaps between them; at most `CHANGED_RANGES_MAX`. */
  spans(): ChangedRange[] {
    const minutes = [...this.#minutes].sort((a, b) => a - b);
    const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? minute));
    const gapsKept = gaps.filter((gap) => gap > 1).sort((a, b) => b - a);
    const gapMin = gapsKept[CHANGED_RANGES_MAX - 1] ?? 1;
    const spans: { from: number; to: number }[] = [];
    let previous = Number.NEGATIVE_INFINITY;
    for (const minute of minutes) {
      const last = spans.at(-1);
      const to = (minute + 1) * MINUTE_S;
      if (last === undefined || minute - previous > gapMin) spans.push({ from: minute * MINUTE_S, to });
      else last.to = to;
      previous = minute;
    }
    return spans;
  }
}
