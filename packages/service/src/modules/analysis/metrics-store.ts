import { METRICS_LISTED_MAX, type MetricsResponse, SAMPLE_VALUES_MAX } from '@tollgate/contract';
import { isKept, OWN_ROWS, type ProjectHistory } from '../storage/index.js';
import { ITEM_SIGN } from '../usage/index.js';
import { RESOLUTIONS_S } from './source.js';

type Metric = MetricsResponse['metrics'][number];

interface MetricSummary {
  readonly metric: string;
  readonly unit: string;
  /** Number of its charge items that corrections took back. */
  readonly countered: string;
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
/**
 * For dimensions that are not in the rollup, values are sampled from this many of the latest charge items, and those of
 * the same second: a charge item and the one that takes it back have the same time.
 */
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
    const key = keyOf({ metric, unit });
    const dimensions = dimensionsOf.get(key) ?? [];
    dimensions.push({ name, cardinality: Number(cardinality), sample_values });
    dimensionsOf.set(key, dimensions);
  }
  return metrics.map(({ metric, unit, currencies, subject_types, ...summary }) => ({
    metric,
    unit: unit === '' ? null : unit,
    currencies,
    dimensions: dimensionsOf.get(keyOf({ metric, unit })) ?? [],
    subject_types,
    unpriced_item_count: Number(summary.unpriced_item_count),
    first_seen_at: summary.first_seen_s,
    last_seen_at: summary.last_seen_s,
  }));
}

async function metricSummaries(history: ProjectHistory): Promise<MetricSummary[]> {
  const found = await history.query<MetricSummary>(
    `SELECT metric, unit, arraySort(groupUniqArrayIf(currency, currency != '' AND item_count != 0)) AS currencies,
       arraySort(groupUniqArrayIf(subject_type, subject_type != '')) AS subject_types,
       sumIf(item_count, currency = '') AS unpriced_item_count,
       arraySort(groupUniqArrayArray(raw_only)) AS raw_only, sum(countered_item_count) AS countered,
       toUnixTimestamp(min(first_seen_at)) AS first_seen_s, toUnixTimestamp(max(last_seen_at)) AS last_seen_s
     FROM ${history.tables.rollup}
     WHERE ${OWN_ROWS} AND resolution = {resolution:UInt16} AND ${isKept('bucket')}
     GROUP BY metric, unit HAVING sum(item_count) != 0 ORDER BY metric, unit LIMIT {limit:UInt32}`,
    { resolution: RESOLUTIONS_S.usage_rollup_1h, limit: METRICS_LISTED_MAX },
  );
  const corrected = found.filter(({ countered }) => countered !== '0');
  if (corrected.length === 0) return found;
  const present = new Map(
    (await presentSummaries(history, corrected)).map((summary) => [keyOf(summary), summary]),
  );
  return found.map((summary) => ({ ...summary, ...present.get(keyOf(summary)) }));
}

function keyOf({ metric, unit }: Pick<MetricSummary, 'metric' | 'unit'>): string {
  return JSON.stringify([metric, unit]);
}

type PresentSummary = Pick<
  MetricSummary,
  'metric' | 'unit' | 'currencies' | 'subject_types' | 'raw_only' | 'first_seen_s' | 'last_seen_s'
>;

/**
 * Returns what metrics have without the charge items that corrections took back. This takes longer: it groups the
 * rollup by all that is summarized, and reads the events of the first and the last hour of each metric.
 */
async function presentSummaries(
  history: ProjectHistory,
  corrected: readonly MetricSummary[],
): Promise<PresentSummary[]> {
  const metrics = [...new Set(corrected.map(({ metric }) => metric))];
  const summaries = await history.query<PresentSummary>(
    `SELECT metric, unit, arraySort(groupUniqArrayIf(currency, currency != '')) AS currencies,
       arraySort(groupUniqArrayIf(subject_type, subject_type != '')) AS subject_types,
       arraySort(groupUniqArrayArray(raw_only)) AS raw_only,
       toUnixTimestamp(min(bucket)) AS first_seen_s, toUnixTimestamp(max(bucket)) AS last_seen_s
     FROM (
       SELECT metric, unit, currency, subject_type, raw_only, bucket FROM ${history.tables.rollup}
       WHERE ${OWN_ROWS} AND resolution = {resolution:UInt16} AND ${isKept('bucket')}
         AND metric IN {metrics:Array(String)}
       GROUP BY metric, unit, currency, subject_type, raw_only, bucket HAVING sum(item_count) != 0
     ) GROUP BY metric, unit`,
    { resolution: RESOLUTIONS_S.usage_rollup_1h, metrics },
  );
  const hours = new Set(summaries.flatMap(({ first_seen_s, last_seen_s }) => [first_seen_s, last_seen_s]));
  const times = await history.query<Pick<PresentSummary, 'metric' | 'unit' | 'first_seen_s' | 'last_seen_s'>>(
    `SELECT metric, unit, toUnixTimestamp(min(time)) AS first_seen_s, toUnixTimestamp(max(time)) AS last_seen_s
     FROM (
       SELECT item.metric AS metric, item.unit AS unit, occurred_at AS time
       FROM ${history.tables.events} ARRAY JOIN item
       WHERE ${OWN_ROWS} AND ${isKept('occurred_at')} AND item.metric IN {metrics:Array(String)}
         AND toStartOfHour(occurred_at) IN (SELECT toDateTime(arrayJoin({hours:Array(UInt32)}), 'UTC'))
       GROUP BY metric, unit, time HAVING sum(${ITEM_SIGN}) > 0
     ) GROUP BY metric, unit`,
    { metrics, hours: [...hours] },
  );
  const timesOf = new Map(times.map((each) => [keyOf(each), each]));
  return summaries.map((summary) => ({ ...summary, ...timesOf.get(keyOf(summary)) }));
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
  const isCorrected = metrics.some(({ countered }) => countered !== '0');
  const isSampled = (time: string, metric: string) =>
    `${OWN_ROWS} AND ${isKept(time)} AND ${metric} IN {metrics:Array(String)}
       AND toUnixTimestamp(${time}) >= transform(toString(${metric}), {metrics:Array(String)}, {since:Array(UInt32)}, 0)`;
  const ofRollup = `SELECT metric, unit, name, value, toInt64(item_count) AS items
     FROM ${tables.rollup} ARRAY JOIN mapKeys(dimensions) AS name, mapValues(dimensions) AS value
     WHERE resolution = {resolution:UInt16} AND ${isSampled('bucket', 'metric')}`;
  const ofEvents = `SELECT metric, unit, toString(name) AS name, value, toInt64(sign) AS items
     FROM (
       SELECT item.metric AS metric, item.unit AS unit, dimensions, raw_only, ${ITEM_SIGN} AS sign FROM ${tables.events} ARRAY JOIN item
       WHERE notEmpty(raw_only) AND ${isSampled('occurred_at', 'item.metric')}
       ORDER BY occurred_at DESC LIMIT {items:UInt32} WITH TIES
     ) ARRAY JOIN mapKeys(dimensions) AS name, mapValues(dimensions) AS value
     WHERE has(raw_only, name)`;
  const sources = metrics.some(({ raw_only }) => raw_only.length > 0) ? [ofRollup, ofEvents] : [ofRollup];
  const all = sources.join(' UNION ALL ');
  // Takes memory for each value, so it is done only where corrections may have left nothing of one.
  const present = `SELECT metric, unit, name, value FROM (${all})
    GROUP BY metric, unit, name, value HAVING sum(items) > 0`;
  return history.query<DimensionSample>(
    `SELECT metric, unit, name, uniqCombined(14)(value) AS cardinality,
       arraySort(groupUniqArrayIf({values:UInt32})(value, length(value) <= {bytes:UInt32})) AS sample_values
     FROM (${isCorrected ? present : all}) GROUP BY metric, unit, name ORDER BY metric, unit, name`,
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
