import type { Config } from '../config.js';
import type { Baseline } from '../modules/catalog/index.js';

/** Returns the allowances of tenants without a granted plan. */
export function baselineOf({ baselinePlan: plan, eventAgeDaysMax, eventAheadDaysMax }: Config): Baseline {
  return { plan, eventAgeDaysMax, eventAheadDaysMax };
}
