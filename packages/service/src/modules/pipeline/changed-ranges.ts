/** A range of `occurred_at` in Unix seconds, `from` inclusive and `to` exclusive. */
export interface ChangedRange {
  readonly from: number;
  readonly to: number;
}

const MINUTE_S = 60;
/**
 * Upper bound of the ranges of a project. When there are more, ranges with the smallest gaps are joined: unchanged
 * minutes may be reported, but changed ones are never left out.
 */
export const CHANGED_RANGES_MAX = 16;

/** The minutes that contain a project's charge items of one batch. */
export class ChangedMinutes {
  readonly #minutes = new Set<number>();
  #last = -1;

  add(occurredAt: number): void {
    const minute = Math.floor(occurredAt / MINUTE_S);
    // Consecutive events almost always lie in one minute.
    if (minute === this.#last) return;
    this.#last = minute;
    this.#minutes.add(minute);
  }

  /** Returns ascending ranges with gaps between them; at most `CHANGED_RANGES_MAX`. */
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
