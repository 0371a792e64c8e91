import { type Period, parsePeriod } from '../../kernel/period.js';

/** @throws Error for an invalid period: stored periods were checked */
export function periodOf(text: string): Period {
  const period = parsePeriod(text);
  if (period === undefined) throw new Error(`a limit was stored with the period ${text}`);
  return period;
}
