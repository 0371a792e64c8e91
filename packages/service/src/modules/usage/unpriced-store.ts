import { UNPRICED_METRICS_LISTED_MAX, type UnpricedUsage } from '@tollgate/contract';
import type { ProjectHistory } from '../storage/index.js';
import type { EventFilter } from './event-filter.js';
import { rowSelection, SIGN } from './event-store.js';

const NONE: UnpricedUsage = { event_count: 0, item_count: 0, metrics: [] };

/**
 * Counts selected usage without a price. Exact without FINAL: of the attempts of a revision only the last has charge
 * items, and a reversal row counts less by what its revision counts more.
 *
 * A `metric` of the filter counts charge items of that metric alone.
 */
export async function unpricedUsage(history: ProjectHistory, filter: EventFilter): Promise<UnpricedUsage> {
  const selection = rowSelection(history, filter);
  if (selection === undefined) return NONE;
  const { conditions, params } = selection;
  const isCounted = `source = 'unpriced'${filter.metric === undefined ? '' : ' AND has({metric:Array(String)}, metric)'}`;
  const unpriced = `SELECT arrayFilter((metric, source) -> ${isCounted}, item.metric, item.pricing_source) AS metrics, ${SIGN} AS sign
    FROM ${history.tables.events} WHERE ${conditions.join(' AND ')} AND notEmpty(metrics)`;
  const [total] = await history.query<{ events: string; items: string }>(
    `SELECT sum(sign) AS events, sum(sign * toInt64(length(metrics))) AS items FROM (${unpriced})`,
    params,
  );
  const eventCount = Number(total?.events ?? 0);
  if (eventCount === 0) return NONE;
  const metrics = await history.query<{ metric: string; items: string }>(
    `SELECT metric, sum(sign) AS items FROM (${unpriced}) ARRAY JOIN metrics AS metric
     GROUP BY metric HAVING items > 0 ORDER BY items DESC, metric LIMIT {listed:UInt32}`,
    { ...params, listed: UNPRICED_METRICS_LISTED_MAX },
  );
  return {
    event_count: eventCount,
    item_count: Number(total?.items ?? 0),
    metrics: metrics.map(({ metric, items }) => ({ metric, item_count: Number(items) })),
  };
}
