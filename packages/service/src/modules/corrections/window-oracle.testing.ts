import { type AlertingWindow, emptyWindow, movedAlerts } from './alerting-window.testing.js';
import type { TrueItem, Truth } from './truth.testing.js';
import { UsageWindowOracle } from './usage-window-oracle.testing.js';

const ONE = 10n ** 18n;
const DAY_S = 86_400;

/** The rules of the limit plan of tests. */
export const LIMIT_RULES = [
  {
    limit_key: 'day',
    measure: 'amount',
    selector_type: 'all',
    currency: 'USD',
    period: 'day',
    limit_amount: '4',
    action: 'notify',
    notify_at: [50],
  },
  {
    limit_key: 'month',
    measure: 'quantity',
    selector_type: 'metric',
    selector_value: 'llm.tokens',
    period: 'month',
    limit_amount: '20',
    action: 'notify',
    notify_at: [25, 80],
  },
  {
    limit_key: 'count',
    measure: 'count',
    selector_type: 'all',
    period: 'month',
    limit_amount: '8',
    action: 'notify',
    notify_at: [50],
  },
  {
    limit_key: 'unique',
    measure: 'unique',
    of: 'model',
    selector_type: 'all',
    period: 'month',
    limit_amount: '2',
    action: 'notify',
    notify_at: [50],
  },
  {
    limit_key: 'max',
    measure: 'max',
    selector_type: 'metric',
    selector_value: 'llm.tokens',
    period: 'month',
    limit_amount: '4',
    action: 'notify',
    notify_at: [50],
  },
  {
    limit_key: 'minute',
    measure: 'amount',
    selector_type: 'all',
    currency: 'EUR',
    period: 'minute',
    limit_amount: '8',
    action: 'notify',
    notify_at: [50],
  },
] as const;

interface Window extends AlertingWindow {
  /** How often each model or quantity is in force. */
  readonly values: Map<string | bigint, number>;
  /** The usage that the transaction adds. */
  added: bigint;
}

/** The windows of subjects with the limit plan of tests, and their alerts. */
export class WindowOracle {
  /** Subjects with the plan. */
  readonly subjects = new Set<string>();
  readonly alerts: string[] = [];
  readonly #windows = new Map<string, Window>();
  readonly #usageWindows = new UsageWindowOracle(this.alerts);

  /** Counts the change of an event in the transaction. A revert has restored it with `isRestored`. */
  count(atS: number, former: Truth | undefined, next: Truth, isRestored: boolean): void {
    if (former !== undefined) this.#add(atS, former, -1n);
    this.#add(atS, next, 1n);
    if (former !== undefined && this.subjects.has(former.subject))
      this.#usageWindows.count(atS, former, { sign: -1n, opens: false });
    if (this.subjects.has(next.subject))
      this.#usageWindows.count(atS, next, { sign: 1n, opens: !isRestored });
  }

  /** Adds the sums of the transaction, and sends alerts and recoveries. */
  endTransaction(nowS: number): void {
    this.#usageWindows.endTransaction(nowS);
    for (const window of this.#windows.values()) {
      if (window.measure === 'unique' || window.measure === 'max')
        window.added = measuredOf(window) - window.used;
      if (window.added === 0n) continue;
      window.used += window.added;
      window.added = 0n;
      this.alerts.push(...movedAlerts(window));
    }
  }

  /** Returns each window with usage at an instant: rule, start, subject and usage. */
  used(nowS: number): string[] {
    const windows = [...this.#windows.values(), ...this.#usageWindows.windows(nowS)];
    return windows
      .filter(({ used }) => used !== 0n)
      .map(({ text, used }) => `${text} ${used}`)
      .sort();
  }

  #add(atS: number, { subject, items, content: { model } }: Truth, sign: bigint): void {
    if (!this.subjects.has(subject)) return;
    for (const rule of LIMIT_RULES) {
      const sum = items.reduce((added, item) => added + countedBy(item, rule.limit_key), 0n);
      const empty = emptyWindow(rule, startOf(rule.period, atS), subject);
      const { text } = empty;
      const window = this.#windows.get(text) ?? { ...empty, values: new Map(), added: 0n };
      window.added += sign * sum;
      for (const { metric, quantity } of items) {
        const isMaximum = rule.measure === 'max' && metric === 'llm.tokens';
        const value = rule.measure === 'unique' ? model : isMaximum ? quantity : undefined;
        if (value !== undefined) window.values.set(value, (window.values.get(value) ?? 0) + Number(sign));
      }
      this.#windows.set(text, window);
    }
  }
}

function countedBy(
  { metric, currency, quantity, amount }: TrueItem,
  rule: (typeof LIMIT_RULES)[number]['limit_key'],
): bigint {
  if (rule === 'day') return currency === 'USD' ? amount : 0n;
  if (rule === 'minute') return currency === 'EUR' ? amount : 0n;
  if (rule === 'month') return metric === 'llm.tokens' ? quantity : 0n;
  return rule === 'count' ? ONE : 0n;
}

/** Returns how many models, or which quantity, the window has. */
function measuredOf({ measure, values }: Pick<Window, 'measure' | 'values'>): bigint {
  const inForce = [...values].flatMap(([value, count]) => (count > 0 ? value : []));
  if (measure === 'unique') return BigInt(inForce.length) * ONE;
  let greatest = 0n;
  for (const value of inForce) if (typeof value === 'bigint' && value > greatest) greatest = value;
  return greatest;
}

function startOf(period: (typeof LIMIT_RULES)[number]['period'], atS: number): number {
  if (period === 'minute') return Math.floor(atS / 60) * 60;
  if (period === 'day') return Math.floor(atS / DAY_S) * DAY_S;
  const date = new Date(atS * 1_000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1_000;
}
