import { DAY_S } from '@tollgate/timezone';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type EveryHistory, everyHistory, type OwnTables } from '../storage/index.js';
import { ITEM_SIGN, SIGN } from '../usage/index.js';
import type { DaySpan, Measurement } from './compare.js';
import { type ItemTotals, itemMeasurements } from './item-totals.js';

/** Tables in ClickHouse that contain the sums of all charge items: the events, and the rollup in each resolution. */
export const ITEM_STORES = [
  'usage_events',
  'usage_rollup_1m',
  'usage_rollup_15m',
  'usage_rollup_1h',
] as const;
export type ItemStore = (typeof ITEM_STORES)[number];
/** The resolutions of the rollup, seconds. */
const ROLLED_UP_S = { usage_rollup_1m: 60, usage_rollup_15m: 900, usage_rollup_1h: 3_600 } as const;
export type RolledUpStore = keyof typeof ROLLED_UP_S;

/** The totals of some days in ClickHouse. */
export interface FoundTotals {
  readonly items: Readonly<Record<ItemStore, Measurement[]>>;
  /** Counts of events by the status of the last attempt of their last revision. */
  readonly events: Measurement[];
  /** Sums of the last 48 bits of the ids of events. */
  readonly ids: Measurement[];
  readonly extremes: readonly StoredExtremes[];
}

/** Minimum and maximum in a resolution of the rollup: as the events have them, and as its rows have them. */
export interface StoredExtremes {
  readonly store: RolledUpStore;
  readonly expected: readonly Measurement[];
  readonly found: readonly Measurement[];
}

type Reader = Pick<ClickHouse, 'query'>;

const DATE_TIME_MAX = 0xffff_ffff;
const DAY_OF = (time: string) => `toUInt32(intDiv(toUnixTimestamp(${time}), ${DAY_S}))`;
const WITHIN = (time: string) =>
  `toUnixTimestamp(${time}) >= {from:UInt32} AND toUnixTimestamp(${time}) < {to:UInt64}`;
const KEYS = 'tenantId, projectId, day, metric, unit, currency';

/**
 * Sums charge items, and their costs by the currency of the cost. No charge item is in two rows of its revision, and
 * reversal rows take back former revisions.
 */
function eventsQuery({ events }: EveryHistory): string {
  const select = (currency: string, sums: string, condition: string) =>
    `SELECT tenant_id AS tenantId, project_id AS projectId, ${DAY_OF('occurred_at')} AS day,
      item.metric AS metric, item.unit AS unit, ${currency} AS currency, ${sums}
    FROM ${events.from} ARRAY JOIN item
    WHERE ${events.inPlace} AND ${WITHIN('occurred_at')} AND ${condition} GROUP BY ${KEYS}`;
  const charges = `sum(${ITEM_SIGN}) AS itemCount, sum(toDecimal256(item.quantity, 18)) AS quantity,
      sum(toDecimal256(item.amount, 18)) AS amount, toDecimal256(0, 18) AS cost, toInt64(0) AS costCount`;
  const costs = `toInt64(0) AS itemCount, toDecimal256(0, 18) AS quantity, toDecimal256(0, 18) AS amount,
      sum(toDecimal256(item.cost_amount, 18)) AS cost, sum(${SIGN}) AS costCount`;
  const sums = ['itemCount', 'quantity', 'amount', 'cost', 'costCount'].map(
    (name) => `sum(part.${name}) AS ${name}`,
  );
  return `SELECT ${KEYS}, ${sums.join(', ')} FROM (
      ${select('item.currency', charges, 'true')}
      UNION ALL ${select('item.cost_currency', costs, "item.cost_currency != ''")}
    ) AS part GROUP BY ${KEYS}`;
}

function rollupQuery({ rollup }: EveryHistory, store: RolledUpStore): string {
  return `SELECT part.tenant_id AS tenantId, part.project_id AS projectId, ${DAY_OF('part.bucket')} AS day,
      part.metric AS metric, part.unit AS unit, part.currency AS currency, sum(part.item_count) AS itemCount,
      sum(part.quantity) AS quantity, sum(part.amount) AS amount, sum(part.cost) AS cost,
      sum(part.cost_count) AS costCount
    FROM ${rollup.from} AS part
    WHERE ${rollup.inPlace} AND part.resolution = ${ROLLED_UP_S[store]} AND ${WITHIN('part.bucket')} GROUP BY ${KEYS}`;
}

/** The queries for the sums of each store. */
const ITEM_QUERIES = {
  usage_events: eventsQuery,
  usage_rollup_1m: (history) => rollupQuery(history, 'usage_rollup_1m'),
  usage_rollup_15m: (history) => rollupQuery(history, 'usage_rollup_15m'),
  usage_rollup_1h: (history) => rollupQuery(history, 'usage_rollup_1h'),
} as const satisfies Record<ItemStore, (history: EveryHistory) => string>;

/** @param own the projects that have tables of their own; may contain others */
export async function readFound(
  clickhouse: Reader,
  own: readonly OwnTables[],
  span: DaySpan,
): Promise<FoundTotals> {
  const history = everyHistory(own);
  const params = { ...history.params, ...spanParams(span) };
  const items = {} as Record<ItemStore, Measurement[]>;
  for (const store of ITEM_STORES) {
    const rows = await clickhouse.query<ItemTotals>(ITEM_QUERIES[store](history), params);
    items[store] = rows.flatMap(itemMeasurements);
  }
  return {
    items,
    ...(await readEvents(clickhouse, history, params)),
    extremes: await readExtremes(clickhouse, history, params),
  };
}

const ROW_KEYS =
  'tenantId, projectId, metric, unit, currency, subjectType, dimensionsHash, resolutionS, start';

/**
 * Compares each row of the rollup that has compared all of its quantities, which rows of former releases have not.
 * Like the rows, it reads every revision of a charge item, also if it was taken back. For each day, metric, unit and
 * currency it returns the first row that differs, or the first of all. Quantities are never negative: -1 is none.
 */
function extremesQuery({ events, rollup }: EveryHistory): string {
  const none = 'CAST(NULL AS Nullable(Decimal(38, 18)))';
  const first = (expected: string, found: string) =>
    `argMin((toString(${expected}), toString(ifNull(${found}, -1))), (ifNull(${expected} = ${found}, false), start))`;
  return `WITH if(empty(raw_only), dimensions, mapFilter((name, value) -> NOT has(raw_only, name), dimensions)) AS summed_by
    SELECT ${KEYS}, resolutionS, ${first('least', 'storedLeast')} AS minimum,
      ${first('greatest', 'storedGreatest')} AS maximum
    FROM (
      SELECT ${ROW_KEYS}, toUInt32(intDiv(start, ${DAY_S})) AS day,
        min(part.least) AS least, max(part.greatest) AS greatest,
        min(part.storedLeast) AS storedLeast, max(part.storedGreatest) AS storedGreatest
      FROM (
        SELECT tenant_id AS tenantId, project_id AS projectId, item.metric AS metric, item.unit AS unit,
          item.currency AS currency, subject_type AS subjectType,
          sipHash128(mapKeys(summed_by), mapValues(summed_by), raw_only) AS dimensionsHash,
          arrayJoin([${Object.values(ROLLED_UP_S)}]::Array(UInt16)) AS resolutionS,
          intDiv(toUnixTimestamp(toStartOfMinute(occurred_at)), resolutionS) * resolutionS AS start,
          toNullable(min(item.quantity)) AS least, toNullable(max(item.quantity)) AS greatest, count() AS items,
          ${none} AS storedLeast, ${none} AS storedGreatest, toUInt64(0) AS compared
        FROM ${events.from} ARRAY JOIN item
        WHERE ${events.inPlace} AND ${WITHIN('occurred_at')} AND NOT is_counter AND item.source != 'correction'
        GROUP BY tenantId, projectId, metric, unit, currency, subjectType, dimensionsHash, toStartOfMinute(occurred_at)
        UNION ALL
        SELECT tenant_id, project_id, metric, unit, currency, subject_type, dimensions_hash, resolution,
          toUnixTimestamp(bucket), ${none}, ${none}, toUInt64(0), minimum, maximum, compared_item_count
        FROM ${rollup.from}
        WHERE ${rollup.inPlace} AND ${WITHIN('bucket')}
      ) AS part GROUP BY ${ROW_KEYS} HAVING sum(part.items) > 0 AND sum(part.items) = sum(part.compared)
    ) GROUP BY ${KEYS}, resolutionS`;
}

interface ExtremesRow extends Pick<Measurement, 'tenantId' | 'projectId' | 'day'> {
  readonly metric: string;
  readonly unit: string;
  readonly currency: string;
  readonly resolutionS: number;
  /** As the events have it, and as the row has it. */
  readonly minimum: readonly [string, string];
  readonly maximum: readonly [string, string];
}

async function readExtremes(
  clickhouse: Reader,
  history: EveryHistory,
  params: Readonly<Record<string, unknown>>,
): Promise<StoredExtremes[]> {
  const rows = await clickhouse.query<ExtremesRow>(extremesQuery(history), params);
  const sideOf = (resolutionS: number, side: 0 | 1) =>
    rows
      .filter((row) => row.resolutionS === resolutionS)
      .flatMap(({ minimum, maximum, resolutionS: _, ...key }): Measurement[] => [
        { ...key, measure: 'minimum', value: minimum[side] },
        { ...key, measure: 'maximum', value: maximum[side] },
      ]);
  return ITEM_STORES.filter((store) => store !== 'usage_events').map((store) => ({
    store,
    expected: sideOf(ROLLED_UP_S[store], 0),
    found: sideOf(ROLLED_UP_S[store], 1),
  }));
}

/** Returns every day for which any of the tables has rows, ascending. */
export async function daysWithHistory(clickhouse: Reader, own: readonly OwnTables[]): Promise<number[]> {
  const { events, rollup } = everyHistory(own);
  const rows = await clickhouse.query<{ day: number }>(
    `SELECT DISTINCT day FROM (
       SELECT DISTINCT ${DAY_OF('occurred_at')} AS day FROM ${events.from}
       UNION ALL SELECT DISTINCT ${DAY_OF('bucket')} AS day FROM ${rollup.from}
     ) ORDER BY day`,
  );
  return rows.map(({ day }) => day);
}

/** The last 48 bits of an event's id. */
const ID_BITS = 'toInt128(reinterpretAsUInt64(reverse(substring(raw_event_id, 11))))';

/** A reversal row has the status of the revision that it takes back. */
async function readEvents(
  clickhouse: Reader,
  { events }: EveryHistory,
  params: Readonly<Record<string, unknown>>,
): Promise<Pick<FoundTotals, 'events' | 'ids'>> {
  const rows = await clickhouse.query<{
    tenantId: string;
    projectId: string;
    day: number;
    processed: string;
    failed: string;
    voided: string;
    unpriced: string;
    corrections: string;
    ids: string;
  }>(
    `SELECT tenant_id AS tenantId, project_id AS projectId, ${DAY_OF('occurred_at')} AS day,
       sumIf(${SIGN}, status = 'processed') AS processed, sumIf(${SIGN}, status = 'failed') AS failed,
       sumIf(${SIGN}, status = 'voided') AS voided,
       sumIf(${SIGN}, arrayExists(source -> source = 'unpriced', item.pricing_source)) AS unpriced,
       countIf(is_counter) AS corrections, toString(sum(${SIGN} * ${ID_BITS})) AS ids
     FROM ${events.from} FINAL WHERE ${events.inPlace} AND ${WITHIN('occurred_at')}
     GROUP BY tenantId, projectId, day`,
    params,
  );
  const keyOf = ({ tenantId, projectId, day }: (typeof rows)[number]) =>
    ({ tenantId, projectId, day, metric: null, unit: null, currency: null }) as const;
  const counts = rows.flatMap((row): Measurement[] => {
    const { processed, failed, voided, unpriced, corrections } = row;
    const key = keyOf(row);
    return [
      { ...key, measure: 'processed_count', value: processed },
      { ...key, measure: 'failed_count', value: failed },
      // Days without corrections have no such totals in PostgreSQL.
      ...(voided === '0' ? [] : [{ ...key, measure: 'voided_count' as const, value: voided }]),
      { ...key, measure: 'unpriced_count', value: unpriced },
      ...(corrections === '0' ? [] : [{ ...key, measure: 'correction_count' as const, value: corrections }]),
    ];
  });
  return {
    events: counts,
    ids: rows.map((row) => ({ ...keyOf(row), measure: 'event_id_sum', value: row.ids })),
  };
}

function spanParams({ from, to }: DaySpan): Record<string, number> {
  return { from: from * DAY_S, to: Math.min(to * DAY_S, DATE_TIME_MAX + 1) };
}
