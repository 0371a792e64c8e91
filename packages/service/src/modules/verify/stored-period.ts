import { type Period, parsePeriod } from '../../kernel/period.js';

/** @throws Error when it is none: what is stored was checked */
export function periodOf(text: string): Period {
  const period = parsePeriod(text);
  if (period === undefined) throw new Error(`a limit was stored with the period ${text}`);
  return period;
}
