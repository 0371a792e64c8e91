import type { ProjectHistory } from '../storage/index.js';
import { IS_CURRENT, type PageBounds, readCurrentRows } from './current-rows-store.js';
import { EVENT_COLUMNS, IN_SCOPE, type StoredInput } from './event-store.js';

/** Which stored events are rated again. Times are Unix seconds. */
export interface ReplaySelection {
  readonly extractorRuleSetId: string;
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Above 0, at most 1: the share of the events that is read, chosen by their ids. */
  readonly share: number;
}

/** An event that is rated again, with the time of its rating. */
export interface ReplayInput extends StoredInput {
  readonly processed_at_ms: number;
}

/** Approximate size of a charge item without the event's texts. */
const ITEM_BYTES = 512;
const BYTES = `length(raw_json) + length(x_billing) + ${ITEM_BYTES} * length(item.metric)`;
const SELECTED = `${IN_SCOPE} AND extractor_rule_set_id = {rule_set:String}
  AND occurred_at >= toDateTime({from:UInt32}, 'UTC') AND occurred_at < toDateTime({to:UInt32}, 'UTC')
  AND reinterpretAsUInt32(reverse(substring(raw_event_id, 5, 4))) < {share_end:UInt64}`;
/** After its time, an id consists of digits of a hash, or of random ones: the first 32 bits choose the sample. */
const SAMPLE_SPACE = 2 ** 32;

/**
 * Counts the events of the selection, up to `eventsMax`; of a project with corrections, perhaps fewer than there are up
 * to this bound. An event whose last row is a reversal row has its present revision by another rule set.
 */
export async function countInputs(
  history: ProjectHistory,
  selection: ReplaySelection,
  eventsMax: number,
): Promise<number> {
  const [row] = await history.query<{ events: string }>(
    `SELECT countIf(is_current) AS events FROM (
       SELECT argMax(${IS_CURRENT}, (corrections, is_counter)) AS is_current FROM (
         SELECT raw_event_id, corrections, is_counter, status FROM ${history.tables.events} WHERE ${SELECTED}
         ORDER BY occurred_at, raw_event_id LIMIT {limit:UInt32})
       GROUP BY raw_event_id)`,
    { ...paramsOf(selection), limit: eventsMax },
  );
  return Number(row?.events ?? 0);
}

/** The sums of charge items of one metric, unit and currency. Exact decimals. */
export interface InputTotal {
  readonly metric: string;
  readonly unit: string;
  /** Empty for items without a price. */
  readonly currency: string;
  readonly quantity: string;
  readonly amount: string;
}

/**
 * Returns what is charged for the events of the selection now. It reads all rows: a reversal row takes back the items
 * of the revision before.
 */
export function inputTotals(history: ProjectHistory, selection: ReplaySelection): Promise<InputTotal[]> {
  return history.query<InputTotal>(
    `SELECT item.metric AS metric, item.unit AS unit, item.currency AS currency,
       toString(sum(toDecimal256(item.quantity, 18))) AS quantity,
       toString(sum(toDecimal256(item.amount, 18))) AS amount
     FROM ${history.tables.events} ARRAY JOIN item WHERE ${SELECTED} GROUP BY metric, unit, currency`,
    paramsOf(selection),
  );
}

/**
 * Returns the amounts that corrections have left on voided events of the selection, with quantities of 0.
 *
 * @param last the id of the last event that is included, as hex digits; undefined for all
 */
export function voidedRemainders(
  history: ProjectHistory,
  selection: ReplaySelection,
  last: string | undefined,
): Promise<InputTotal[]> {
  const isIncluded = last === undefined ? '' : 'AND raw_event_id <= toFixedString(unhex({last:String}), 16)';
  return history.query<InputTotal>(
    `SELECT item.metric AS metric, item.unit AS unit, item.currency AS currency, '0' AS quantity,
       toString(sum(toDecimal256(item.amount, 18))) AS amount
     FROM ${history.tables.events} ARRAY JOIN item
     WHERE ${SELECTED} AND status = 'voided' ${isIncluded}
     GROUP BY metric, unit, currency HAVING sum(toDecimal256(item.amount, 18)) != 0`,
    { ...paramsOf(selection), ...(last === undefined ? {} : { last }) },
  );
}

/**
 * Returns the approximate size of the selection's events. It reads everything that was sent, so it is meant for few
 * events.
 */
export async function inputBytes(history: ProjectHistory, selection: ReplaySelection): Promise<number> {
  const [row] = await history.query<{ bytes: string }>(
    `SELECT sum(${BYTES}) AS bytes FROM ${history.tables.events} WHERE ${SELECTED} AND NOT is_counter`,
    paramsOf(selection),
  );
  return Number(row?.bytes ?? 0);
}

/**
 * Returns the next events of the selection after a given one, each with its current row, oldest first; none at the end.
 * Voided events, and those whose present revision is by another rule set, are left out.
 */
export function readInputs(
  history: ProjectHistory,
  selection: ReplaySelection,
  after: string | undefined,
  bounds: PageBounds,
  signal: AbortSignal,
): Promise<ReplayInput[]> {
  const params = paramsOf(selection);
  return readCurrentRows<ReplayInput>(history, { ...INPUTS, params }, after, bounds, signal);
}

const INPUTS = {
  columns: `${EVENT_COLUMNS}, raw_json, x_billing, subject_is_sent,
    toFloat64(toUnixTimestamp64Milli(processed_at)) AS processed_at_ms`,
  condition: SELECTED,
  bytes: BYTES,
};

function paramsOf({ extractorRuleSetId, from, to, share }: ReplaySelection) {
  const shareEnd = Math.ceil(share * SAMPLE_SPACE);
  return { rule_set: extractorRuleSetId, from, to, share_end: shareEnd };
}
