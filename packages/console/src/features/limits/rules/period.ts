/**
 * Kinds of periods: a calendar step, the lifetime of the rule, a duration counted from the route's anchor, or one that
 * begins with usage.
 */
export const PERIOD_CHOICES = [
  { value: 'minute', label: 'Calendar minute' },
  { value: 'hour', label: 'Calendar hour' },
  { value: 'day', label: 'Calendar day' },
  { value: 'week', label: 'Calendar week' },
  { value: 'month', label: 'Calendar month' },
  { value: 'lifetime', label: 'Lifetime, never resets' },
  { value: 'duration', label: 'Custom duration' },
  { value: 'first_use', label: 'Duration from the first use' },
  { value: 'sliding', label: 'Sliding, the last duration' },
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

/** Kinds that are written before their duration: `sliding:5h`. */
const KINDS = ['first_use', 'sliding'] as const;
const DURATION = /^(\d*) ?(m|minutes?|h|hours?|d|days?|w|weeks?|months?)$/;
const SHORT_UNITS: Readonly<Record<string, PeriodUnit>> = { m: 'minute', h: 'hour', d: 'day', w: 'week' };
const NAMED = ['minute', 'hour', 'day', 'week', 'month', 'lifetime'] as const;

export function periodChoice(period: string): PeriodChoice {
  const kind = KINDS.find((name) => period.startsWith(`${name}:`));
  return kind ?? NAMED.find((name) => name === period) ?? 'duration';
}

/** Whether a period of the kind has a duration. */
export function hasDuration(choice: PeriodChoice): boolean {
  return choice === 'duration' || KINDS.some((kind) => kind === choice);
}

/** Parses the duration of a period into count and unit; undefined if it has none. */
export function durationOf(period: string): Duration | undefined {
  const [, count, unit = ''] = DURATION.exec(period.trim().replace(/^(first_use|sliding):/, '')) ?? [];
  const name = PERIOD_UNITS.find(({ value }) => unit.startsWith(value))?.value ?? SHORT_UNITS[unit];
  return count === undefined || name === undefined || NAMED.some((named) => named === period)
    ? undefined
    : { count, unit: name };
}

/** Returns the period with a duration of the chosen kind. */
export function periodOf(choice: PeriodChoice, { count, unit }: Duration): string {
  const text = `${count} ${unit}`;
  if (KINDS.some((kind) => kind === choice)) return `${choice}:${text}`;
  return choice === 'duration' ? text : choice;
}

/** The period in a sentence: `per calendar month`, `per 7 days`, `per 5 hours from the first use`, `in total`. */
export function periodWords(period: string): string {
  if (period === 'lifetime') return 'in total';
  const duration = durationOf(period);
  if (duration === undefined)
    return `per ${periodChoice(period) === 'duration' ? period : `calendar ${period}`}`;
  const length = duration.count === '1' ? duration.unit : `${duration.count} ${duration.unit}s`;
  if (periodChoice(period) === 'first_use') return `per ${length} from the first use`;
  if (periodChoice(period) === 'sliding') return `in the last ${length}`;
  return duration.count === '1' ? `per ${length} from the anchor` : `per ${length}`;
}
