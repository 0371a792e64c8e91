/** Kinds of periods: a calendar step, the lifetime of the rule, or a duration counted from the route's anchor. */
export const PERIOD_CHOICES = [
  { value: 'minute', label: 'Calendar minute' },
  { value: 'hour', label: 'Calendar hour' },
  { value: 'day', label: 'Calendar day' },
  { value: 'week', label: 'Calendar week' },
  { value: 'month', label: 'Calendar month' },
  { value: 'lifetime', label: 'Lifetime, never resets' },
  { value: 'duration', label: 'Custom duration' },
] as const;
export type PeriodChoice = (typeof PERIOD_CHOICES)[number]['value'];

export const PERIOD_UNITS = [
  { value: 'minute', label: 'minutes' },
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

const DURATION = /^(\d*) ?(m|minutes?|h|hours?|d|days?|w|weeks?|months?)$/;
const SHORT_UNITS: Readonly<Record<string, PeriodUnit>> = { m: 'minute', h: 'hour', d: 'day', w: 'week' };
const NAMED = ['minute', 'hour', 'day', 'week', 'month', 'lifetime'] as const;

export function periodChoice(period: string): PeriodChoice {
  return NAMED.find((name) => name === period) ?? 'duration';
}

/** Parses a duration into count and unit; undefined if the text is not a duration. */
export function durationOf(period: string): Duration | undefined {
  const [, count, unit = ''] = DURATION.exec(period.trim()) ?? [];
  const name = PERIOD_UNITS.find(({ value }) => unit.startsWith(value))?.value ?? SHORT_UNITS[unit];
  return count === undefined || name === undefined || periodChoice(period) !== 'duration'
    ? undefined
    : { count, unit: name };
}

export function durationText({ count, unit }: Duration): string {
  return `${count} ${unit}`;
}

/** The period in a sentence: `per calendar month`, `per 7 days`, `in total`. */
export function periodWords(period: string): string {
  if (period === 'lifetime') return 'in total';
  const duration = durationOf(period);
  if (duration === undefined)
    return `per ${periodChoice(period) === 'duration' ? period : `calendar ${period}`}`;
  return duration.count === '1'
    ? `per ${duration.unit} from the anchor`
    : `per ${duration.count} ${duration.unit}s`;
}
