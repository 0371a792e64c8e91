import type { PlotType } from './plot-paths.js';

/** Largest distance in pixels between the pointer and a series that it selects. */
const REACH_PX = 14;

/**
 * The index of the series that a pointer is at: the band of a stack that it lies in or, within reach, the nearest line or band.
 *
 * @param tops by series, in pixels from the top: where it ends at the bucket that is pointed at; of stacks, that of the series below it
 *   is where it begins. NaN for a line that is not there
 * @param bottom where zero is
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
    const ground = type === 'line' ? top : index === 0 ? bottom : (tops[index - 1] ?? bottom);
    // A series without usage in this bucket has no band.
    if (type !== 'line' && top === ground) continue;
    const [upper, lower] = top < ground ? [top, ground] : [ground, top];
    const away = Math.max(upper - pointerY, pointerY - lower, 0);
    if (away < least) {
      least = away;
      nearest = index;
    }
    if (away === 0) break;
  }
  return nearest;
}
