import { type PricingConfig, type Warning, warningsOf } from '@tollgate/contract';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { extractedMetrics } from './known-names-store.js';
import type { StoredVersion } from './store.js';

/** Names the metrics of a pricing rule set that its extractor rule set makes no charge items of. */
export async function pricingWarnings(
  db: ProjectDb,
  { extractor_rule_set_id: boundTo, config }: StoredVersion<PricingConfig>,
): Promise<Warning[]> {
  if (boundTo === null) throw new Error('a pricing rule set is bound to an extractor rule set');
  const made = await extractedMetrics(db, boundTo);
  const named = (config.rules ?? []).map(({ metric }) => metric);
  return warningsOf(
    'metric_not_extracted',
    named.filter((metric) => !made.has(metric)),
  );
}
