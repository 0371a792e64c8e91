import { type Period, type TimeWindow, type WindowSettings, windowAt } from '../../../kernel/period.js';
import { memoized } from '../posting/memoized.js';
import type { CompiledRule } from '../rules/index.js';

type CalendarUnit = Extract<Period, { kind: 'calendar' }>['unit'];

/** The windows that events lie in. Those of the calendar are the same for all routes of a timezone, and kept. */
export class CalendarWindows {
  /**
   * By timezone, then by first day of the week, then by unit: asked for each window of a batch, without a key
   * to make.
   */
  readonly #latest = new Map<string, Map<string, Map<CalendarUnit, TimeWindow>>>();

  /** The window of a rule that an instant (Unix seconds) lies in. */
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
