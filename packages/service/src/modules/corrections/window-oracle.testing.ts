import { alertText } from '../../testing/limit-alert-text.js';
import type { TrueItem, Truth } from './truth.testing.js';

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
] as const;

interface Window {
  readonly text: string;
  readonly limit: bigint;
  readonly percentages: readonly number[];
  readonly measure: (typeof LIMIT_RULES)[number]['measure'];
  /** How often each model or quantity is in force. */
  readonly values: Map<string | bigint, number>;
  used: bigint;
  /** The usage that the transaction adds. */
  added: bigint;
  readonly alerts: Map<number, { sequence: number; isOpen: boolean }>;
}

/** The windows of subjects with the limit plan of tests, and their alerts. */
export class WindowOracle {
  /** Subjects with the plan. */
  readonly subjects = new Set<string>();
  readonly alerts: string[] = [];
  readonly #windows = new Map<string, Window>();

  /** Counts the change of an event in the transaction. */
  count(atS: number, former: Truth | undefined, next: Truth): void {
    if (former !== undefined) this.#add(atS, former, -1n);
    this.#add(atS, next, 1n);
  }

  /** Adds the sums of the transaction, and sends alerts and recoveries. */
  endTransaction(): void {
    for (const window of this.#windows.values()) {
      if (window.measure === 'unique' || window.measure === 'max')
        window.added = measuredOf(window) - window.used;
      if (window.added === 0n) continue;
      window.used += window.added;
      window.added = 0n;
      this.#sendAlerts(window);
    }
  }

  /** Returns each window with usage: rule, start, subject and usage. */
  used(): string[] {
    const windows = [...this.#windows.values()].filter(({ used }) => used !== 0n);
    return windows.map(({ text, used }) => `${text} ${used}`).sort();
  }

  #add(atS: number, { subject, items, content: { model } }: Truth, sign: bigint): void {
    if (!this.subjects.has(subject)) return;
    for (const [index, rule] of LIMIT_RULES.entries()) {
      const sum = items.reduce((added, item) => added + countedBy(item, index), 0n);
      const startS = index === 0 ? Math.floor(atS / DAY_S) * DAY_S : monthOf(atS);
      const text = `${rule.limit_key} ${startS} ${subject}`;
      const window = this.#windows.get(text) ?? {
        text,
        limit: BigInt(rule.limit_amount) * ONE,
        percentages: [...rule.notify_at, 100],
        measure: rule.measure,
        values: new Map(),
        used: 0n,
        added: 0n,
        alerts: new Map(),
      };
      window.added += sign * sum;
      for (const { metric, quantity } of items) {
        const isMaximum = rule.measure === 'max' && metric === 'llm.tokens';
        const value = rule.measure === 'unique' ? model : isMaximum ? quantity : undefined;
        if (value !== undefined) window.values.set(value, (window.values.get(value) ?? 0) + Number(sign));
      }
      this.#windows.set(text, window);
    }
  }

  #sendAlerts({ text, limit, percentages, measure, used, alerts }: Window): void {
    const [key = '', start = '', subject_id = ''] = text.split(' ');
    for (const percent of percentages) {
      const isAbove = measure === 'max' && percent === 100;
      const isReached = isAbove ? used > limit : used * 100n >= limit * BigInt(percent);
      const alert = alerts.get(percent) ?? { sequence: 0, isOpen: false };
      if (isReached === alert.isOpen) continue;
      alert.isOpen = isReached;
      if (isReached) alert.sequence += 1;
      alerts.set(percent, alert);
      const crossing = percent === 100 ? 'exceeded' : 'threshold_reached';
      const type = `usage_limit.${isReached ? crossing : 'recovered'}`;
      const { sequence } = alert;
      this.alerts.push(
        alertText(type, key, { threshold_percent: percent, sequence, window_id: `:${start}`, subject_id }),
      );
    }
  }
}

function countedBy({ metric, currency, quantity, amount }: TrueItem, rule: number): bigint {
  if (rule === 0) return currency === 'USD' ? amount : 0n;
  if (rule === 2) return ONE;
  if (rule > 2) return 0n;
  return metric === 'llm.tokens' ? quantity : 0n;
}

/** Returns how many models, or which quantity, the window has. */
function measuredOf({ measure, values }: Window): bigint {
  const inForce = [...values].flatMap(([value, count]) => (count > 0 ? value : []));
  if (measure === 'unique') return BigInt(inForce.length) * ONE;
  let greatest = 0n;
  for (const value of inForce) if (typeof value === 'bigint' && value > greatest) greatest = value;
  return greatest;
}

function monthOf(atS: number): number {
  const date = new Date(atS * 1_000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1_000;
}
