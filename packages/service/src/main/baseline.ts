import type { Config } from '../config.js';
import type { Baseline } from '../modules/catalog/index.js';

/** What tenants have that were granted nothing. */
export function baselineOf({ baselinePlan: plan, eventAgeDaysMax, eventAheadDaysMax }: Config): Baseline {
  return { plan, eventAgeDaysMax, eventAheadDaysMax };
}
