import type { PlotType } from '@tollgate/contract';

/** Largest distance in pixels between the pointer and a series that it selects. */
const REACH_PX = 14;

/**
 * Returns the index of the series at the pointer: the band of a stack around it or, within reach, the nearest series.
 *
 * @param tops upper end of each series in the bucket at the pointer, in pixels from the top. A band of a
 *   stack starts at the upper end of the series below it. NaN for a missing line
 * @param bottom position of zero
 */
export function seriesAt(
  type: PlotType,
  tops: readonly number[],
  bottom: number,
  pointerY: number,
): number | undefined {
  let nearest: number | undefined;
  let least = REACH_PX;
  for (const [index, top] of tops.entries()) {
    const base = type === 'line' ? top : index === 0 ? bottom : (tops[index - 1] ?? bottom);
    // A series without usage in this bucket has no band.
    if (type !== 'line' && top === base) continue;
    const [upper, lower] = top < base ? [top, base] : [base, top];
    const away = Math.max(upper - pointerY, pointerY - lower, 0);
    if (away < least) {
      least = away;
      nearest = index;
    }
    if (away === 0) break;
  }
  return nearest;
}
