import { UNLIMITED } from '@tollgate/contract';

const MS_PER_DAY = 86_400_000;

/** Of the month, in UTC, that holds the day (days since 1970): YYYYMM, as partitions are named. */
export function monthOfDay(day: number): number {
  const date = new Date(day * MS_PER_DAY);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

/**
 * The first day of what is kept for so many whole days before today: 0, the first of all, when that is for
 * ever (-1).
 */
export function retainedFromDay(nowMs: number, retentionDays: number): number {
  if (retentionDays === UNLIMITED) return 0;
  return Math.max(0, Math.floor(nowMs / MS_PER_DAY) - retentionDays);
}
