/** How a period is chosen: a step of the calendar, for good, or a duration from the route's anchor on. */
export const PERIOD_CHOICES = [
  { value: 'hour', label: 'Calendar hour' },
  { value: 'day', label: 'Calendar day' },
  { value: 'week', label: 'Calendar week' },
  { value: 'month', label: 'Calendar month' },
  { value: 'lifetime', label: 'For good, never reset' },
  { value: 'duration', label: 'A duration' },
] as const;
export type PeriodChoice = (typeof PERIOD_CHOICES)[number]['value'];

export const PERIOD_UNITS = [
  { value: 'hour', label: 'hours' },
  { value: 'day', label: 'days' },
  { value: 'week', label: 'weeks' },
  { value: 'month', label: 'months' },
] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number]['value'];

export interface Duration {
  readonly count: string;
  readonly unit: PeriodUnit;
}

const DURATION = /^(\d*) ?(h|hours?|d|days?|w|weeks?|months?)$/;
const SHORT_UNITS: Readonly<Record<string, PeriodUnit>> = { h: 'hour', d: 'day', w: 'week', m: 'month' };
const NAMED = ['hour', 'day', 'week', 'month', 'lifetime'] as const;

export function periodChoice(period: string): PeriodChoice {
  return NAMED.find((name) => name === period) ?? 'duration';
}

/** A duration in its two parts; undefined for what is none. */
export function durationOf(period: string): Duration | undefined {
  const [, count, unit = ''] = DURATION.exec(period.trim()) ?? [];
  const name = SHORT_UNITS[unit.charAt(0)];
  return count === undefined || name === undefined || periodChoice(period) !== 'duration'
    ? undefined
    : { count, unit: name };
}

export function durationText({ count, unit }: Duration): string {
  return `${count} ${unit}`;
}

/** As it stands in a sentence: `per calendar month`, `per 7 days`, `for good`. */
export function periodWords(period: string): string {
  if (period === 'lifetime') return 'for good';
  const duration = durationOf(period);
  if (duration === undefined)
    return `per ${periodChoice(period) === 'duration' ? period : `calendar ${period}`}`;
  return duration.count === '1'
    ? `per ${duration.unit} from its anchor`
    : `per ${duration.count} ${duration.unit}s`;
}
