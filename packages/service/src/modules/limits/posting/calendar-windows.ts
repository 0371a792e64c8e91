import { type TimeWindow, type WindowSettings, windowAt } from '../../../kernel/period.js';
import type { CompiledRule } from '../book/index.js';

/** The windows that events lie in. Those of the calendar are the same for all routes of a timezone, and kept. */
export class CalendarWindows {
  readonly #latest = new Map<string, TimeWindow>();

  /** The window of a rule that an instant (Unix seconds) lies in. */
  at({ period }: CompiledRule, settings: WindowSettings, atS: number): TimeWindow {
    if (period.kind !== 'calendar') return windowAt(period, settings, atS);
    const key = `${settings.timezone} ${settings.weekStart} ${period.unit}`;
    let window = this.#latest.get(key);
    if (window === undefined || !isWithin(window, atS)) {
      window = windowAt(period, settings, atS);
      this.#latest.set(key, window);
    }
    return window;
  }
}

export function isWithin({ startS, endS }: TimeWindow, atS: number): boolean {
  return atS >= startS && (endS === undefined || atS < endS);
}
