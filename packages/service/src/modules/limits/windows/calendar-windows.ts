import { type Period, type TimeWindow, type WindowSettings, windowAt } from '../../../kernel/period.js';
import { memoized } from '../posting/memoized.js';
import type { CompiledRule } from '../rules/index.js';

type CalendarUnit = Extract<Period, { kind: 'calendar' }>['unit'];

/**
 * Computes the windows that events fall into. Calendar windows are the same for all routes of a timezone, and cached.
 */
export class CalendarWindows {
  /**
   * By timezone, then by first day of the week, then by unit. Nested maps, because each window of a batch is looked up
   * and a joined key would have to be built each time.
   */
  readonly #latest = new Map<string, Map<string, Map<CalendarUnit, TimeWindow>>>();

  /** Returns the window of a rule that contains an instant (Unix seconds). */
  at({ period }: CompiledRule, settings: WindowSettings, atS: number): TimeWindow {
    if (period.kind !== 'calendar') return windowAt(period, settings, atS);
    const known = this.#of(settings);
    let window = known.get(period.unit);
    if (window === undefined || !windowContains(window, atS)) {
      window = windowAt(period, settings, atS);
      known.set(period.unit, window);
    }
    return window;
  }

  #of({ timezone, weekStart }: WindowSettings): Map<CalendarUnit, TimeWindow> {
    const ofZone = memoized(this.#latest, timezone, () => new Map<string, Map<CalendarUnit, TimeWindow>>());
    return memoized(ofZone, weekStart, () => new Map<CalendarUnit, TimeWindow>());
  }
}

export function windowContains({ startS, endS }: TimeWindow, atS: number): boolean {
  return atS >= startS && (endS === undefined || atS < endS);
}
