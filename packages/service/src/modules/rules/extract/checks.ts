import { CURRENCY_PATTERN, METRIC_PATTERN } from '@tollgate/contract';
import type { Issues } from './issues.js';

/** Currency of pricing that has none of its own. */
export const CURRENCY_DEFAULT = 'USD';

const METRIC = new RegExp(METRIC_PATTERN);
const CURRENCY = new RegExp(CURRENCY_PATTERN);

export function checkMetric(metric: string, path: string, issues: Issues): void {
  if (!METRIC.test(metric)) issues.add(path, `expected text that matches ${METRIC_PATTERN}`);
}

/** Checks for an ISO 4217 code, or a unit of the tenant's own. */
export function checkCurrency(currency: string | undefined, path: string, issues: Issues): void {
  if (currency === undefined || CURRENCY.test(currency)) return;
  issues.add(path, `expected a code such as USD, or text that matches ${CURRENCY_PATTERN}`);
}
