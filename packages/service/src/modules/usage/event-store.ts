import { ANY_NOTE } from '@tollgate/contract';
import { timeOfId } from '../../kernel/id.js';
import { rowsUpTo } from '../../platform/clickhouse/index.js';
import { type HistoryScope, isKept, OWN_ROWS, type ProjectHistory } from '../storage/index.js';
import { type DimensionCondition, isOfItem } from './dimension-conditions.js';
import type { EventFilter } from './event-filter.js';
import { filterSql, StatementParams } from './filter-sql.js';
import type { EVENT_STATUSES, ITEM_SOURCES, LEASE_STATUSES, POSTINGS, PRICING_SOURCES } from './row.js';

/** The project whose usage is read, and the start of its retention. Every query is confined to it. */
export type UsageScope = HistoryScope;

/** A row of `usage_events` as ClickHouse returns it; absent texts are empty, decimals are texts. */
export interface StoredEvent {
  /** 32 hex digits. */
  readonly id: string;
  readonly corrections: number;
  readonly status: keyof typeof EVENT_STATUSES;
  readonly posting: keyof typeof POSTINGS;
  readonly source: string;
  readonly external_event_id: string;
  readonly idempotency_key: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly account_id: string;
  readonly budget_lease_id: string;
  readonly lease_status: keyof typeof LEASE_STATUSES;
  readonly extractor_rule_set_id: string;
  readonly extractor_version: number;
  readonly occurred_at_s: number;
  readonly received_at_s: number;
  readonly processed_at_s: number;
  readonly dimensions: Record<string, string>;
  readonly failure_code: string;
  readonly failure_message: string;
  readonly failure_path: string;
  readonly notes: string;
  readonly item_extractor_name: readonly string[];
  readonly item_metric: readonly string[];
  readonly item_unit: readonly string[];
  readonly item_currency: readonly string[];
  readonly item_quantity: readonly string[];
  readonly item_unit_price: readonly (string | null)[];
  readonly item_amount: readonly string[];
  readonly item_discount: readonly string[];
  readonly item_source: readonly (keyof typeof ITEM_SOURCES)[];
  readonly item_pricing_source: readonly (keyof typeof PRICING_SOURCES)[];
  readonly item_rule_set_id: readonly string[];
  readonly item_rule_set_version: readonly number[];
  readonly item_rule_name: readonly string[];
  readonly item_cumulative: readonly string[];
  readonly item_ledger_transaction_id: readonly string[];
  readonly item_cost_amount: readonly string[];
  /** Empty for items without a cost. */
  readonly item_cost_currency: readonly string[];
  readonly item_cost_rule_set_id: readonly string[];
  readonly item_cost_rule_set_version: readonly number[];
  readonly item_cost_rule_name: readonly string[];
}

/** An event with everything that decides how it is rated. */
export interface StoredInput extends StoredEvent {
  /** JSON text as it was sent; empty if the body could not be read, or nothing was sent. */
  readonly raw_json: string;
  readonly x_billing: string;
  readonly subject_is_sent: boolean;
}

/** An event with everything that was sent. */
export interface StoredEventDetail extends StoredInput {
  /** JSON text; empty where nothing was sent. */
  readonly metadata: string;
}

/** A DateTime cannot hold a later second; a later bound means the same as this one. */
const DATE_TIME_MAX = 0xffff_ffff;

// Aliases differ from the names of their columns: ClickHouse would take the alias wherever a condition names both.
export const EVENT_COLUMNS = `
  lower(hex(raw_event_id)) AS id, corrections, status, posting, source, external_event_id, idempotency_key, subject_type, subject_id,
  account_id, budget_lease_id, lease_status, extractor_rule_set_id, extractor_version,
  toUnixTimestamp(occurred_at) AS occurred_at_s, toUnixTimestamp(received_at) AS received_at_s,
  toUnixTimestamp(processed_at) AS processed_at_s, dimensions, failure_code, failure_message, failure_path, notes,
  item.extractor_name AS item_extractor_name, item.metric AS item_metric, item.unit AS item_unit,
  item.currency AS item_currency, item.quantity AS item_quantity, item.unit_price AS item_unit_price,
  item.amount AS item_amount, item.discount AS item_discount, item.source AS item_source, item.pricing_source AS item_pricing_source,
  item.rule_set_id AS item_rule_set_id, item.rule_set_version AS item_rule_set_version, item.rule_name AS item_rule_name,
  item.cumulative AS item_cumulative,
  item.ledger_transaction_id AS item_ledger_transaction_id, item.cost_amount AS item_cost_amount,
  item.cost_currency AS item_cost_currency, item.cost_rule_set_id AS item_cost_rule_set_id,
  item.cost_rule_set_version AS item_cost_rule_set_version, item.cost_rule_name AS item_cost_rule_name`;

/** The condition that the project keeps an event. */
export const IN_SCOPE = `${OWN_ROWS} AND ${isKept('occurred_at')}`;
/**
 * Counts rows so that a revision and its reversal row are none together. Sums of charge items need no sign, because the
 * items of reversal rows are negative.
 */
export const SIGN = 'if(is_counter, -1, 1)';
/** The same for a charge item, where items are joined. A remainder of a correction is an amount, and not counted. */
export const ITEM_SIGN = `if(item.source = 'correction', 0, ${SIGN})`;

const CONDITIONS = {
  from: "occurred_at >= toDateTime({from:UInt32}, 'UTC')",
  to: "occurred_at < toDateTime({to:UInt32}, 'UTC')",
  status: 'status = {status:String}',
  subject_type: 'subject_type = {subject_type:String}',
  subject_id: 'subject_id = {subject_id:String}',
  source: 'source = {source:String}',
  extractor_rule_set_id: 'extractor_rule_set_id = {extractor_rule_set_id:String}',
  failure_code: 'failure_code = {failure_code:String}',
  external_event_id: 'external_event_id = {external_event_id:String}',
  note: `notes != '' AND ({note:String} = '${ANY_NOTE}' OR
    arrayExists(each -> JSONExtractString(each, 'code') = {note:String}, JSONExtractArrayRaw(notes)))`,
} as const satisfies Record<
  Exclude<keyof EventFilter, ItemFilter | 'ledger_transaction_id' | 'conditions'>,
  string
>;

/**
 * Selects events with a row that was posted in a transaction, also a row of a former revision or a reversal row. The
 * time leaves few granules to read.
 */
const IN_TRANSACTION = (table: string) => `(occurred_at, raw_event_id) IN (
  SELECT occurred_at, raw_event_id FROM ${table} WHERE ${IN_SCOPE}
    AND processed_at = fromUnixTimestamp64Milli({posted_at:Int64})
    AND has(item.ledger_transaction_id, {ledger_transaction_id:String}))`;

/** Conditions that one charge item must meet, if there are any. */
const ITEM_CONDITIONS = {
  metric: 'has({metric:Array(String)}, metric)',
  currency: 'currency = {currency:String}',
  pricing_source: 'pricing_source = {pricing_source:String}',
} as const satisfies Partial<Record<keyof EventFilter, string>>;
type ItemFilter = keyof typeof ITEM_CONDITIONS;
const ITEM_FILTERS = Object.keys(ITEM_CONDITIONS) as readonly ItemFilter[];

/** The order of events, and how a position is compared with those after it. */
const ORDERS = {
  newest: { direction: 'DESC', follows: '<', reaches: '<=' },
  oldest: { direction: 'ASC', follows: '>', reaches: '>=' },
} as const;

/** Events that may belong on a page. */
export interface Candidates {
  /** 32 hex digits each, in the requested order. */
  readonly ids: string[];
  /** Bytes of the dimensions of each event, in the rows that match: its current row may have more. */
  readonly bytes: ReadonlyMap<string, number>;
  /** Whether no events follow. */
  readonly isEnd: boolean;
}

interface Selection {
  /** All must be met. */
  readonly conditions: string[];
  readonly params: Record<string, unknown>;
}

/** The rows that a filter selects, reversal rows included; undefined where no row can match. */
export function rowSelection(
  { tables }: Pick<ProjectHistory, 'tables'>,
  filter: EventFilter,
): Selection | undefined {
  const conditions = [IN_SCOPE];
  const params: Record<string, unknown> = {};
  if (filter.ledger_transaction_id !== undefined) {
    // The ids of a batch's transactions carry the time at which its events were processed.
    const postedAtMs = timeOfId('led', filter.ledger_transaction_id);
    if (postedAtMs === undefined) return undefined;
    conditions.push(IN_TRANSACTION(tables.events));
    Object.assign(params, {
      posted_at: postedAtMs,
      ledger_transaction_id: filter.ledger_transaction_id,
    });
  }
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const value = filter[name as keyof typeof CONDITIONS];
    if (value === undefined) continue;
    conditions.push(condition);
    params[name] = typeof value === 'number' ? Math.min(value, DATE_TIME_MAX) : value;
  }
  const asked = ITEM_FILTERS.filter((name) => filter[name] !== undefined);
  for (const name of asked) params[name] = filter[name];
  const filterParams = new StatementParams();
  const ofItem = filter.conditions.filter(isOfItem);
  if (asked.length + ofItem.length > 0) conditions.push(oneItemFits(filterParams, asked, ofItem));
  for (const condition of filter.conditions)
    if (!isOfItem(condition)) conditions.push(filterSql(filterParams, condition));
  Object.assign(params, filterParams.values);
  return { conditions, params };
}

function oneItemFits(
  params: StatementParams,
  asked: readonly ItemFilter[],
  ofItem: readonly DimensionCondition[],
): string {
  const fits = [
    ...asked.map((name) => ITEM_CONDITIONS[name]),
    ...ofItem.map((condition) => filterSql(params, condition)),
  ].join(' AND ');
  const columns = ofItem.length === 0 ? asked : [...new Set<ItemFilter>([...asked, 'pricing_source'])];
  return `arrayExists((${columns}) -> ${fits}, ${columns.map((name) => `item.${name}`)})`;
}

/**
 * Events that have, or had before they were reprocessed or corrected, a row that matches: from just after `after`, at
 * most `limit` rows. Without FINAL and LIMIT BY, which would read the project's whole history: ClickHouse stops at the
 * limit, and `eventsById` finds the current row of each event.
 */
export async function matchingIds(
  history: ProjectHistory,
  filter: EventFilter,
  after: string | undefined,
  limit: number,
  order: keyof typeof ORDERS = 'newest',
): Promise<Candidates> {
  const { direction, follows, reaches } = ORDERS[order];
  const selection = rowSelection(history, filter);
  if (selection === undefined) return { ids: [], bytes: new Map(), isEnd: true };
  const { params } = selection;
  const conditions = ['NOT is_counter', ...selection.conditions];
  params.limit = limit;
  if (after !== undefined) {
    const afterTime = `toDateTime({after_s:UInt32}, 'UTC')`;
    conditions.push(
      `occurred_at ${reaches} ${afterTime}`,
      `(occurred_at, raw_event_id) ${follows} (${afterTime}, toFixedString(unhex({after:String}), 16))`,
    );
    Object.assign(params, { after, after_s: secondsOfId(after) });
  }
  const rows = await history.query<{ id: string; bytes: string }>(
    `SELECT lower(hex(raw_event_id)) AS id, byteSize(dimensions) AS bytes FROM ${history.tables.events} WHERE ${conditions.join(' AND ')}
     ORDER BY occurred_at ${direction}, raw_event_id ${direction} LIMIT {limit:UInt32}`,
    params,
  );
  const bytes = new Map<string, number>();
  for (const row of rows) bytes.set(row.id, Math.max(Number(row.bytes), bytes.get(row.id) ?? 0));
  return { ids: [...bytes.keys()], bytes, isEnd: rows.length < limit };
}

/**
 * The condition of the rows of all revisions of the events `ids`, which the project keeps. The ids are one text of 32
 * hex digits for each, because a list of texts takes ClickHouse longer to parse.
 */
export const REVISIONS_BY_IDS = `${IN_SCOPE} AND NOT is_counter AND (occurred_at, raw_event_id) IN (
  SELECT toDateTime(reinterpretAsUInt32(reverse(substring(bytes, 1, 4))), 'UTC'), toFixedString(bytes, 16)
  FROM (SELECT substring(unhex({ids:String}), number * 16 + 1, 16) AS bytes
    FROM numbers(intDiv(length({ids:String}), 32))))`;

/**
 * Returns the current row of each event: that of the last attempt of its last revision; newest first. Undefined if the
 * rows have more than about `bytesMax` bytes; a single event is always read.
 */
export function eventsById(
  history: ProjectHistory,
  ids: readonly string[],
  bytesMax: number,
): Promise<StoredEvent[] | undefined> {
  const sql = `SELECT ${EVENT_COLUMNS} FROM ${history.tables.events}
     WHERE ${REVISIONS_BY_IDS}
     ORDER BY occurred_at DESC, raw_event_id DESC, corrections DESC, attempt DESC LIMIT 1 BY raw_event_id`;
  const params = { ids: ids.join('') };
  return ids.length > 1
    ? rowsUpTo<StoredEvent>(history, bytesMax, sql, params)
    : history.query<StoredEvent>(sql, params);
}

/** Returns one event with everything that was sent; undefined when the project has no such event. */
export async function eventDetail(
  history: ProjectHistory,
  id: string,
): Promise<StoredEventDetail | undefined> {
  const rows = await history.query<StoredEventDetail>(
    `SELECT ${EVENT_COLUMNS}, raw_json, metadata, x_billing, subject_is_sent FROM ${history.tables.events}
     WHERE ${IN_SCOPE} AND NOT is_counter AND occurred_at = toDateTime({at:UInt32}, 'UTC')
       AND raw_event_id = toFixedString(unhex({id:String}), 16)
     ORDER BY corrections DESC, attempt DESC LIMIT 1`,
    { id, at: secondsOfId(id) },
  );
  return rows[0];
}

/** Returns the time of an event. Its id begins with `occurred_at`, so the key of its row is known without a look-up. */
export function secondsOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}
