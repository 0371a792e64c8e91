import { alertText } from '../../testing/limit-alert-text.js';

/** A window with usage × 10^18, and its alerts. */
export interface AlertingWindow {
  /** Rule, start and subject; of a sliding window, its duration in place of the start. */
  readonly text: string;
  readonly limit: bigint;
  readonly percentages: readonly number[];
  readonly measure: string;
  used: bigint;
  readonly alerts: Map<number, { sequence: number; isOpen: boolean }>;
}

interface AlertingRule {
  readonly limit_key: string;
  readonly measure: string;
  readonly limit_amount: string;
  readonly notify_at: readonly number[];
}

/** Returns a window without usage. */
export function emptyWindow(
  { limit_key, measure, limit_amount, notify_at }: AlertingRule,
  start: number | string,
  subject: string,
): AlertingWindow {
  return {
    text: `${limit_key} ${start} ${subject}`,
    limit: BigInt(limit_amount) * 10n ** 18n,
    percentages: [...notify_at, 100],
    measure,
    used: 0n,
    alerts: new Map(),
  };
}

/**
 * Moves the alerts of a window to its present usage, and returns those that are sent.
 *
 * @param isWithUsage whether usage may have raised it; otherwise only what has fallen ends
 */
export function movedAlerts(
  { text, limit, percentages, measure, used, alerts }: AlertingWindow,
  isWithUsage = true,
): string[] {
  const [key = '', start = '', subject_id = ''] = text.split(' ');
  return percentages.flatMap((percent) => {
    const isAbove = measure === 'max' && percent === 100;
    const isReached = isAbove ? used > limit : used * 100n >= limit * BigInt(percent);
    const alert = alerts.get(percent) ?? { sequence: 0, isOpen: false };
    if (isReached === alert.isOpen || (isReached && !isWithUsage)) return [];
    alert.isOpen = isReached;
    if (isReached) alert.sequence += 1;
    alerts.set(percent, alert);
    const crossing = percent === 100 ? 'exceeded' : 'threshold_reached';
    const type = `usage_limit.${isReached ? crossing : 'recovered'}`;
    const { sequence } = alert;
    return alertText(type, key, { threshold_percent: percent, sequence, window_id: `:${start}`, subject_id });
  });
}
