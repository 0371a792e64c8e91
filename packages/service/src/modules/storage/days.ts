import { UNLIMITED } from '@tollgate/contract';

const MS_PER_DAY = 86_400_000;

/** Returns the UTC month that contains a day (days since 1970) as YYYYMM, the name of a partition. */
export function monthOfDay(day: number): number {
  const date = new Date(day * MS_PER_DAY);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

/** Returns the first day of the UTC month that contains a day. */
export function firstDayOfMonth(day: number): number {
  return day - new Date(day * MS_PER_DAY).getUTCDate() + 1;
}

/** Returns the UTC months of a range of days, as YYYYMM; both ends are included. */
export function monthsOf(firstDay: number, lastDay: number): number[] {
  const months: number[] = [];
  for (let day = firstDayOfMonth(firstDay); day <= lastDay; day = firstDayOfMonth(day + 31)) {
    months.push(monthOfDay(day));
  }
  return months;
}

/**
 * Returns the first day that is kept, for so many whole days before today; day 0 when the retention is for ever (-1).
 */
export function retainedFromDay(nowMs: number, retentionDays: number): number {
  if (retentionDays === UNLIMITED) return 0;
  return Math.max(0, Math.floor(nowMs / MS_PER_DAY) - retentionDays);
}
