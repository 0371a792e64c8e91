import { type LimitPeriod, type Period, parseLimitPeriod, parsePeriod } from '../../kernel/period.js';

/** @throws Error for an invalid period: stored periods were checked */
export function periodOf(text: string): LimitPeriod {
  const period = parseLimitPeriod(text);
  if (period === undefined) throw new Error(`a limit was stored with the period ${text}`);
  return period;
}

/** Returns a period whose windows do not depend on usage; undefined for any other. */
export function fixedPeriodOf(text: string): Period | undefined {
  return parsePeriod(text);
}
