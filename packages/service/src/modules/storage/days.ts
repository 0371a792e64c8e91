const MS_PER_DAY = 86_400_000;

/** Of the month, in UTC, that holds the day (days since 1970): YYYYMM, as partitions are named. */
export function monthOfDay(day: number): number {
  const date = new Date(day * MS_PER_DAY);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

/** The first day that is kept of what was kept for so many whole days before today. */
export function retainedFromDay(nowMs: number, retentionDays: number): number {
  return Math.max(0, Math.floor(nowMs / MS_PER_DAY) - retentionDays);
}
