import { DAY_S } from '@tollgate/timezone';

/** Returns a day as people write it, such as `2026-11-26`. @param day days since 1970 */
export function dayText(day: number): string {
  return new Date(day * DAY_S * 1_000).toISOString().slice(0, 10);
}
