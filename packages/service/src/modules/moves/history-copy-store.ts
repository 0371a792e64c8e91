import {
  areViewsHalfReplaced,
  type ClickHouse,
  type ClickHouseReader,
  columnList,
  InsertCountError,
  identifier,
  literal,
} from '../../platform/clickhouse/index.js';
import { OWN_ROWS, ROLLUP_VIEWS, type StorageScope, storageTables, tableSuffix } from '../storage/index.js';
import { ITEM_SIGN, SIGN, USAGE_EVENT_COLUMNS } from '../usage/index.js';

/** Upper bounds of one unit; a unit contains at least the events of one batch, even if they exceed the bounds. */
const UNIT_EVENTS_MAX = 20_000;
const UNIT_BYTES_MAX = 32 * 1_048_576;
/** Upper bound of the batches that are considered for one unit. */
const BATCHES_READ_MAX = 5_000;

/**
 * The rows of a project that were rated between two moments (Unix milliseconds, both included). The rows of a unit
 * never change: a batch is in ClickHouse as a whole before its unit is formed.
 */
export interface HistoryUnit {
  readonly fromMs: number;
  readonly toMs: number;
  readonly events: number;
}

/** The number of a project's events, and the sums of their charge items by metric; decimals as text. */
export interface HistoryDigest {
  readonly events: string;
  /** Sum of the hashes of the rows' ids, attempts and statuses, and of their revisions after the first. */
  readonly ids: string;
  /** Sums by table and resolution, metric, unit and currency. */
  readonly items: readonly (readonly string[])[];
}

/** Returns the next unit of a project after one moment, with events that were rated before another moment. */
export async function nextUnit(
  clickhouse: ClickHouse,
  scope: StorageScope,
  { afterMs, beforeMs }: { readonly afterMs: number; readonly beforeMs: number },
): Promise<HistoryUnit | undefined> {
  const reader = await upToDate(clickhouse, scope);
  const batches = await reader.query<{ at: string; events: string }>(
    `SELECT toUnixTimestamp64Milli(processed_at) AS at, count() AS events FROM ${storageTables(scope).events}
     WHERE ${OWN_ROWS} AND processed_at > fromUnixTimestamp64Milli({after:Int64})
       AND processed_at < fromUnixTimestamp64Milli({before:Int64})
     GROUP BY at ORDER BY at LIMIT ${BATCHES_READ_MAX}`,
    { ...paramsOf(scope), after: afterMs, before: beforeMs },
  );
  let unit = joined(batches, UNIT_EVENTS_MAX);
  while (unit !== undefined && unit.fromMs < unit.toMs) {
    const bytes = await bytesOf(reader, scope, unit);
    if (bytes <= UNIT_BYTES_MAX) break;
    unit = joined(batches, Math.floor((unit.events * UNIT_BYTES_MAX) / bytes / 2));
  }
  return unit;
}

/** Returns the rows of a unit as blocks of the Native format. */
export async function exportUnit(
  clickhouse: ClickHouse,
  scope: StorageScope,
  unit: HistoryUnit,
): Promise<Buffer> {
  const columns = columnList(USAGE_EVENT_COLUMNS);
  const reader = await upToDate(clickhouse, scope);
  return reader.exportRows(
    `SELECT ${columns} FROM ${storageTables(scope).events} WHERE ${OWN_ROWS} AND ${IN_UNIT}`,
    { ...paramsOf(scope), from: unit.fromMs, to: unit.toMs },
  );
}

/**
 * Returns false while views are replaced in part. Those of all projects count, because their replacement then goes on
 * although a unit may be stored in part.
 *
 * @param suffixes returns those of the tables of projects that have own ones; the arriving project may be missing
 */
export async function mayImportUnits(
  clickhouse: ClickHouse,
  { projectNo }: StorageScope,
  suffixes: () => Promise<readonly string[]>,
): Promise<boolean> {
  const reader = await clickhouse.upToDate([]);
  return !(await areViewsHalfReplaced(reader, async () => [...(await suffixes()), tableSuffix(projectNo)]));
}

/**
 * Stores the rows of a unit, also in the rollup, and returns their number. A repetition with the same token stores
 * nothing again. Rows that a later attempt has replaced may be missing, because ClickHouse can remove them at any time.
 */
export async function importUnit(
  clickhouse: ClickHouse,
  scope: StorageScope,
  bytes: Buffer,
  { unit, token }: { readonly unit: HistoryUnit; readonly token: string },
): Promise<number> {
  if (bytes.length === 0) return 0;
  const { events } = storageTables(scope);
  try {
    await clickhouse.insertRows(events, USAGE_EVENT_COLUMNS, { bytes }, unit.events, token);
    return unit.events;
  } catch (error) {
    // All sent rows are stored; the comparison of both copies counts them.
    if (error instanceof InsertCountError) return error.taken;
    throw error;
  }
}

/**
 * Returns the sums by which two copies of a project's history are compared. Sums of charge items are exact without
 * FINAL, because of the attempts of a revision only the last has charge items.
 */
export async function digestHistory(clickhouse: ClickHouse, scope: StorageScope): Promise<HistoryDigest> {
  const { events, rollup } = storageTables(scope);
  const params = paramsOf(scope);
  const reader = await upToDate(clickhouse, scope);
  // Rows that no correction wrote have the hash that a cell of an older release gives them.
  const hash = `if(corrections = 0 AND NOT is_counter, cityHash64(raw_event_id, attempt, status),
    cityHash64(raw_event_id, attempt, status, corrections, is_counter))`;
  const ids = await reader.query<{ events: string; ids: string }>(
    `SELECT toString(sum(${SIGN})) AS events, toString(sum(toUInt256(${hash}))) AS ids
     FROM ${events} FINAL WHERE ${OWN_ROWS}`,
    params,
  );
  const sums = (resolution: string, count: string, prefix: string) =>
    `${resolution} AS resolution, ${prefix}metric AS metric, ${prefix}unit AS unit, ${prefix}currency AS currency,
     toString(${count}) AS item_sum, toString(sum(toDecimal256(${prefix}quantity, 18))) AS quantity_sum,
     toString(sum(toDecimal256(${prefix}amount, 18))) AS amount_sum`;
  // Rows of their own, which a cell of an older release has no more than a history without costs.
  const costs = (resolution: string, count: string, ...[metric, unit, currency, cost]: readonly string[]) =>
    `concat(${resolution}, ' cost') AS resolution, ${metric} AS metric, ${unit} AS unit, ${currency} AS currency,
     toString(${count}) AS item_sum, '0' AS quantity_sum, toString(sum(toDecimal256(${cost}, 18))) AS amount_sum`;
  const items = await reader.query<Record<string, unknown>>(
    `SELECT * FROM (
       SELECT ${sums("'0'", `sum(${ITEM_SIGN})`, 'item.')} FROM ${events} ARRAY JOIN item WHERE ${OWN_ROWS}
       GROUP BY metric, unit, currency
       UNION ALL
       SELECT ${sums('toString(part.resolution)', 'sum(part.item_count)', 'part.')} FROM ${rollup} AS part
       WHERE ${OWN_ROWS} GROUP BY resolution, metric, unit, currency
       UNION ALL
       SELECT ${costs("'0'", `sum(${SIGN})`, 'item.metric', 'item.unit', 'item.cost_currency', 'item.cost_amount')}
       FROM ${events} ARRAY JOIN item WHERE ${OWN_ROWS} AND item.cost_currency != ''
       GROUP BY metric, unit, currency
       UNION ALL
       SELECT ${costs('toString(part.resolution)', 'sum(part.cost_count)', 'part.metric', 'part.unit', 'part.currency', 'part.cost')}
       FROM ${rollup} AS part WHERE ${OWN_ROWS} GROUP BY resolution, metric, unit, currency HAVING item_sum != '0'
     ) ORDER BY resolution, metric, unit, currency`,
    params,
  );
  return {
    events: ids[0]?.events ?? '0',
    ids: ids[0]?.ids ?? '0',
    items: items.map((row) => Object.values(row).map(String)),
  };
}

/**
 * Deletes the history of a project: drops its own tables, or starts to delete its rows from shared tables, which
 * continues in the background. Returns whether nothing is left; call it again until it returns true.
 */
export async function deleteHistory(clickhouse: ClickHouse, scope: StorageScope): Promise<boolean> {
  const { events, rollup } = storageTables(scope);
  if (scope.storage === 'dedicated') {
    const views = ROLLUP_VIEWS.map((view) => `${view}_${scope.projectNo}`);
    for (const table of [...views, events, rollup]) {
      await clickhouse.command(`DROP TABLE IF EXISTS ${identifier(table)} SYNC`);
    }
    return true;
  }
  let isGone = true;
  for (const table of [events, rollup]) {
    // A replica may have deleted the rows while another one has not.
    const isDeleting = await isBeingDeleted(clickhouse, table, scope);
    if (!isDeleting && !(await hasRows(clickhouse, table, scope))) continue;
    isGone = false;
    if (isDeleting) continue;
    // It has literals, because the mutation is found by its text. Waiting for it would make other inserts wait too.
    await clickhouse.command(
      `ALTER TABLE ${identifier(table)} DELETE WHERE tenant_id = ${literal(scope.tenantId)}
       AND project_id = ${literal(scope.projectId)} SETTINGS mutations_sync = 0`,
    );
  }
  return isGone;
}

async function hasRows(clickhouse: ClickHouse, table: string, scope: StorageScope): Promise<boolean> {
  const reader = await clickhouse.upToDate([table]);
  const rows = await reader.query(
    `SELECT 1 AS found FROM ${table} WHERE ${OWN_ROWS} LIMIT 1`,
    paramsOf(scope),
  );
  return rows.length > 0;
}

async function isBeingDeleted(
  clickhouse: ClickHouse,
  table: string,
  { projectId }: StorageScope,
): Promise<boolean> {
  const rows = await clickhouse.query(
    `SELECT 1 AS found FROM ${clickhouse.systemTable('mutations')}
     WHERE table = {table:String} AND NOT is_done
       AND position(command, {project:String}) > 0 LIMIT 1`,
    { table, project: projectId },
  );
  return rows.length > 0;
}

const IN_UNIT = `processed_at >= fromUnixTimestamp64Milli({from:Int64})
  AND processed_at <= fromUnixTimestamp64Milli({to:Int64})`;

function paramsOf({ tenantId, projectId }: StorageScope) {
  return { tenant: tenantId, project: projectId };
}

/** Returns a reader that finds everything of the project: what is not found is not copied. */
function upToDate(clickhouse: ClickHouse, scope: StorageScope): Promise<ClickHouseReader> {
  return clickhouse.upToDate(Object.values(storageTables(scope)));
}

async function bytesOf(
  clickhouse: ClickHouseReader,
  scope: StorageScope,
  unit: HistoryUnit,
): Promise<number> {
  const rows = await clickhouse.query<{ bytes: string }>(
    `SELECT sum(length(raw_json) + length(metadata) + length(x_billing)) AS bytes
     FROM ${storageTables(scope).events} WHERE ${OWN_ROWS} AND ${IN_UNIT}`,
    { ...paramsOf(scope), from: unit.fromMs, to: unit.toMs },
  );
  return Number(rows[0]?.bytes ?? 0);
}

/** Returns the first batches as one unit, up to the bound of events, but at least one batch. */
function joined(
  batches: readonly { readonly at: string; readonly events: string }[],
  eventsMax: number,
): HistoryUnit | undefined {
  const [first] = batches;
  if (first === undefined) return undefined;
  let events = 0;
  let toMs = Number(first.at);
  for (const batch of batches) {
    if (events > 0 && events + Number(batch.events) > eventsMax) break;
    events += Number(batch.events);
    toMs = Number(batch.at);
  }
  return { fromMs: Number(first.at), toMs, events };
}
