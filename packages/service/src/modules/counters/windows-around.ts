import { type Period, type TimeWindow, type WindowSettings, windowAt } from '../../kernel/period.js';

/**
 * Returns the window that contains an instant (Unix seconds), with two windows before it and two after it, in their
 * order. A lifetime is alone.
 */
export function windowsAround(period: Period, settings: WindowSettings, atS: number): TimeWindow[] {
  const own = windowAt(period, settings, atS);
  const all = [own];
  let { startS, endS } = own;
  while (endS !== undefined && all.length < 5) {
    const before = windowAt(period, settings, startS - 1);
    const after = windowAt(period, settings, endS);
    all.unshift(before);
    all.push(after);
    startS = before.startS;
    endS = after.endS;
  }
  return all;
}

/**
 * Returns the time of a new period that contains an instant: the instant's window, without the time of other periods.
 * If these leave less than half of a window, the rest and its neighbour are one period. So where a timezone or an
 * anchor was changed, no short period has a price of its own.
 *
 * Only the windows in which other periods end or begin have such a rest, at most one on each side of the instant. So
 * the instants of the result have the same result, and others keep theirs when the period is added.
 *
 * @param windows around the instant
 * @param others the periods that have a time in common with these windows; none contains the instant
 */
export function periodAmong(
  windows: readonly TimeWindow[],
  others: Iterable<TimeWindow>,
  atS: number,
): TimeWindow {
  let [fromS, toS] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { startS, endS } of others) {
    if (endS !== undefined && endS <= atS) fromS = Math.max(fromS, endS);
    if (startS > atS) toS = Math.min(toS, startS);
  }
  const joined = { startS: fromS, endS: fromS };
  let isFormerShort = false;
  for (const { startS, endS = Number.POSITIVE_INFINITY } of windows) {
    const restS = Math.max(startS, fromS);
    const restEndS = Math.min(endS, toS);
    if (restS >= restEndS) continue;
    const isShort = 2 * (restEndS - restS) < endS - startS;
    if (!isShort && !isFormerShort) {
      if (joined.endS > atS) break;
      joined.startS = restS;
    }
    joined.endS = restEndS;
    isFormerShort = isShort;
  }
  const { startS, endS } = joined;
  return { startS, endS: Number.isFinite(endS) ? endS : undefined };
}
