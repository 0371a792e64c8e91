import { memoized } from '../../kernel/maps.js';
import { type AlertingWindow, emptyWindow, movedAlerts } from './alerting-window.testing.js';
import type { Truth } from './truth.testing.js';

const DAY_S = 86_400;

/** Rules of the limit plan of tests whose windows depend on usage. */
export const USAGE_WINDOW_RULES = [
  {
    limit_key: 'first',
    measure: 'quantity',
    selector_type: 'metric',
    selector_value: 'llm.tokens',
    period: 'first_use:2d',
    limit_amount: '8',
    action: 'notify',
    notify_at: [50],
  },
  {
    limit_key: 'sliding',
    measure: 'amount',
    selector_type: 'all',
    currency: 'USD',
    period: 'sliding:30d',
    limit_amount: '6',
    action: 'notify',
    notify_at: [50],
  },
] as const;

const [FIRST_USE, SLIDING] = USAGE_WINDOW_RULES;
const FIRST_USE_S = 2 * DAY_S;
const SLIDING_S = 30 * DAY_S;
/** A sliding window has 60 steps. No transaction of a test may be near their ends, because its second is not known. */
export const SLIDING_STEP_S = SLIDING_S / 60;

/** The usage that a transaction adds in one second of a subject. */
interface Second {
  used: bigint;
  /** Whether it may open a `first_use` window. */
  opens: boolean;
}

interface FirstUseWindow {
  readonly startS: number;
  readonly window: AlertingWindow;
}

interface Sliding {
  readonly window: AlertingWindow;
  readonly uses: { readonly atS: number; readonly used: bigint }[];
}

/** The windows of rules of which usage decides when they begin and end. */
export class UsageWindowOracle {
  readonly #alerts: string[];
  /** By subject and second, for each rule. */
  readonly #first = new Map<string, Map<number, Second>>();
  readonly #added = new Map<string, Map<number, Second>>();
  readonly #firstUses = new Map<string, FirstUseWindow[]>();
  readonly #sliding = new Map<string, Sliding>();

  constructor(alerts: string[]) {
    this.#alerts = alerts;
  }

  /** Counts an event in the transaction; `opens` unless it is taken back, or restored. */
  count(
    atS: number,
    { subject, items }: Pick<Truth, 'subject' | 'items'>,
    { sign, opens }: { readonly sign: bigint; readonly opens: boolean },
  ): void {
    const add = (seconds: Map<string, Map<number, Second>>, used: bigint) => {
      const ofSubject = memoized(seconds, subject, () => new Map<number, Second>());
      const second = memoized(ofSubject, atS, () => ({ used: 0n, opens: false }));
      second.used += sign * used;
      second.opens ||= opens;
    };
    for (const { metric, quantity, currency, amount } of items) {
      if (metric === FIRST_USE.selector_value) add(this.#first, quantity);
      if (currency === SLIDING.currency) add(this.#added, amount);
    }
  }

  endTransaction(nowS: number): void {
    for (const [subject, seconds] of this.#first) this.#placeFirstUses(subject, ascending(seconds));
    for (const [subject, seconds] of this.#added) this.#slide(subject, ascending(seconds), nowS);
    this.#first.clear();
    this.#added.clear();
  }

  /** Returns all windows, with their usage at an instant. */
  windows(nowS: number): AlertingWindow[] {
    const firstUses = [...this.#firstUses.values()].flat().map(({ window }) => window);
    return [...firstUses, ...[...this.#sliding.values()].map((sliding) => slidingAt(sliding, nowS))];
  }

  /** Usage counts in the window that contains it; after the newest window, it opens one. Other usage is not counted. */
  #placeFirstUses(subject: string, seconds: readonly (readonly [atS: number, Second])[]): void {
    const windows = memoized(this.#firstUses, subject, () => []);
    const changed = new Set<AlertingWindow>();
    for (const [atS, { used, opens }] of seconds) {
      const isAfterAll = windows.every(({ startS }) => startS + FIRST_USE_S <= atS);
      if (isAfterAll && opens && used !== 0n)
        windows.push({ startS: atS, window: emptyWindow(FIRST_USE, atS, subject) });
      const within = windows.find(({ startS }) => startS <= atS && atS < startS + FIRST_USE_S);
      if (within === undefined) continue;
      within.window.used += used;
      changed.add(within.window);
    }
    for (const window of changed) this.#alerts.push(...movedAlerts(window));
  }

  /** Alerts that have ended by time end before usage is added. */
  #slide(subject: string, seconds: readonly (readonly [atS: number, Second])[], nowS: number): void {
    const added = seconds.filter(([, { used }]) => used !== 0n);
    if (added.length === 0) return;
    const sliding = memoized(this.#sliding, subject, () => ({
      window: emptyWindow(SLIDING, '30d', subject),
      uses: [],
    }));
    this.#alerts.push(...movedAlerts(slidingAt(sliding, nowS), false));
    sliding.uses.push(...added.map(([atS, { used }]) => ({ atS, used })));
    this.#alerts.push(...movedAlerts(slidingAt(sliding, nowS)));
  }
}

function ascending(seconds: ReadonlyMap<number, Second>): (readonly [atS: number, Second])[] {
  return [...seconds].sort(([a], [b]) => a - b);
}

/** Returns the window with its usage at an instant: that of a step counts as long as its last second does. */
function slidingAt({ window, uses }: Sliding, nowS: number): AlertingWindow {
  const counts = ({ atS }: { readonly atS: number }) =>
    nowS < (Math.floor(atS / SLIDING_STEP_S) + 1) * SLIDING_STEP_S - 1 + SLIDING_S;
  window.used = sumOf(uses.filter(counts));
  return window;
}

function sumOf(uses: readonly { readonly used: bigint }[]): bigint {
  return uses.reduce((sum, { used }) => sum + used, 0n);
}
