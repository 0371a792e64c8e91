import { METRICS_LISTED_MAX, type MetricsResponse, SAMPLE_VALUES_MAX } from '@tollgate/contract';
import { isKept, OWN_ROWS, type ProjectHistory } from '../storage/index.js';
import { RESOLUTIONS_S } from './source.js';

type Metric = MetricsResponse['metrics'][number];

interface MetricSummary {
  readonly metric: string;
  readonly unit: string;
  readonly currencies: string[];
  readonly subject_types: string[];
  readonly unpriced_item_count: string;
  /** Dimensions that some of the usage is not summed by. */
  readonly raw_only: string[];
  readonly first_seen_s: number;
  readonly last_seen_s: number;
}

interface DimensionSample {
  readonly metric: string;
  readonly unit: string;
  readonly name: string;
  readonly cardinality: number;
  readonly sample_values: string[];
}

/** Dimension values are sampled from this long before a metric was last seen, which bounds what is read. */
const SAMPLED_S = 31 * 86_400;
/** For dimensions that are not in the rollup, values are sampled from this many of the latest charge items. */
const RAW_ITEMS_MAX = 1_000_000;
/** Longer values are left out of the samples: cut short, they would match nothing. */
const VALUE_BYTES_MAX = 256;

/** The metrics that a project has used, with what they can be grouped and filtered by. */
export async function usedMetrics(history: ProjectHistory): Promise<Metric[]> {
  const metrics = await metricSummaries(history);
  if (metrics.length === 0) return [];
  const samples = await dimensionSamples(history, metrics);
  const dimensionsOf = new Map<string, Metric['dimensions']>();
  for (const { metric, unit, name, cardinality, sample_values } of samples) {
    const key = JSON.stringify([metric, unit]);
    const dimensions = dimensionsOf.get(key) ?? [];
    dimensions.push({ name, cardinality: Number(cardinality), sample_values });
    dimensionsOf.set(key, dimensions);
  }
  return metrics.map(({ metric, unit, currencies, subject_types, ...summary }) => ({
    metric,
    unit: unit === '' ? null : unit,
    currencies,
    dimensions: dimensionsOf.get(JSON.stringify([metric, unit])) ?? [],
    subject_types,
    unpriced_item_count: Number(summary.unpriced_item_count),
    first_seen_at: summary.first_seen_s,
    last_seen_at: summary.last_seen_s,
  }));
}

function metricSummaries(history: ProjectHistory): Promise<MetricSummary[]> {
  return history.query<MetricSummary>(
    `SELECT metric, unit, arraySort(groupUniqArrayIf(currency, currency != '')) AS currencies,
       arraySort(groupUniqArrayIf(subject_type, subject_type != '')) AS subject_types,
       sumIf(item_count, currency = '') AS unpriced_item_count,
       arraySort(groupUniqArrayArray(raw_only)) AS raw_only,
       toUnixTimestamp(min(first_seen_at)) AS first_seen_s, toUnixTimestamp(max(last_seen_at)) AS last_seen_s
     FROM ${history.tables.rollup}
     WHERE ${OWN_ROWS} AND resolution = {resolution:UInt16} AND ${isKept('bucket')}
     GROUP BY metric, unit ORDER BY metric, unit LIMIT {limit:UInt32}`,
    { resolution: RESOLUTIONS_S.usage_rollup_1h, limit: METRICS_LISTED_MAX },
  );
}

/**
 * Samples and counts of the values of the metrics' dimensions. uniqCombined takes at most 12 KiB per dimension,
 * however many values there are, and is nearly always within 2 %.
 */
function dimensionSamples(
  history: ProjectHistory,
  metrics: readonly MetricSummary[],
): Promise<DimensionSample[]> {
  const lastSeen = new Map<string, number>();
  for (const { metric, last_seen_s } of metrics) {
    lastSeen.set(metric, Math.max(last_seen_s, lastSeen.get(metric) ?? 0));
  }
  const { tables } = history;
  const isSampled = (time: string, metric: string) =>
    `${OWN_ROWS} AND ${isKept(time)} AND ${metric} IN {metrics:Array(String)}
       AND toUnixTimestamp(${time}) >= transform(toString(${metric}), {metrics:Array(String)}, {since:Array(UInt32)}, 0)`;
  const ofRollup = `SELECT metric, unit, name, value
     FROM ${tables.rollup} ARRAY JOIN mapKeys(dimensions) AS name, mapValues(dimensions) AS value
     WHERE resolution = {resolution:UInt16} AND ${isSampled('bucket', 'metric')}`;
  const ofEvents = `SELECT metric, unit, toString(name) AS name, value
     FROM (
       SELECT item.metric AS metric, item.unit AS unit, dimensions, raw_only FROM ${tables.events} ARRAY JOIN item
       WHERE notEmpty(raw_only) AND ${isSampled('occurred_at', 'item.metric')}
       ORDER BY occurred_at DESC LIMIT {items:UInt32}
     ) ARRAY JOIN mapKeys(dimensions) AS name, mapValues(dimensions) AS value
     WHERE has(raw_only, name)`;
  const sources = metrics.some(({ raw_only }) => raw_only.length > 0) ? [ofRollup, ofEvents] : [ofRollup];
  return history.query<DimensionSample>(
    `SELECT metric, unit, name, uniqCombined(14)(value) AS cardinality,
       arraySort(groupUniqArrayIf({values:UInt32})(value, length(value) <= {bytes:UInt32})) AS sample_values
     FROM (${sources.join(' UNION ALL ')}) GROUP BY metric, unit, name ORDER BY metric, unit, name`,
    {
      resolution: RESOLUTIONS_S.usage_rollup_1h,
      values: SAMPLE_VALUES_MAX,
      bytes: VALUE_BYTES_MAX,
      items: RAW_ITEMS_MAX,
      metrics: [...lastSeen.keys()],
      since: [...lastSeen.values()].map((lastSeenS) => Math.max(0, lastSeenS - SAMPLED_S)),
    },
  );
}
