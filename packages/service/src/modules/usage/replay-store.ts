import type { ProjectHistory } from '../storage/index.js';
import { EVENT_COLUMNS, IN_SCOPE, type StoredInput, secondsOfId } from './event-store.js';

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

/** How much is read at a time. The last event may exceed the bytes. */
export interface PageBounds {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** Approximate size of a charge item without the event's texts. */
const ITEM_BYTES = 512;
const BYTES = `length(raw_json) + length(x_billing) + ${ITEM_BYTES} * length(item.metric)`;
const SELECTED = `${IN_SCOPE} AND extractor_rule_set_id = {rule_set:String}
  AND occurred_at >= toDateTime({from:UInt32}, 'UTC') AND occurred_at < toDateTime({to:UInt32}, 'UTC')
  AND reinterpretAsUInt32(reverse(substring(raw_event_id, 5, 4))) < {share_end:UInt64}`;
const IS_CURRENT = "NOT is_counter AND status != 'voided'";
/** After its time, an id consists of digits of a hash, or of random ones: the first 32 bits choose the sample. */
const SAMPLE_SPACE = 2 ** 32;

/**
 * Counts the events of the selection, up to `eventsMax`; of a project with corrections, perhaps fewer than there are up
 * to this bound. An event whose last row is a counter row has its present revision by another rule set.
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
 * Returns what is charged for the events of the selection now. It reads all rows: a counter row takes back the items of
 * the revision before.
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
export async function readInputs(
  history: ProjectHistory,
  selection: ReplaySelection,
  after: string | undefined,
  bounds: PageBounds,
  signal: AbortSignal,
): Promise<StoredInput[]> {
  let last = after;
  for (;;) {
    const events = await readPage(history, selection, last, bounds, signal);
    const inputs = events.filter(({ is_current: isCurrent }) => isCurrent);
    last = events.at(-1)?.id;
    if (inputs.length > 0 || last === undefined)
      return inputs.map(({ is_current: _isCurrent, ...input }) => input);
  }
}

/** The last row of an event among those that are selected. */
interface LastRow extends StoredInput {
  /** Whether it is the current row of its event, and the event is not voided. */
  readonly is_current: boolean;
}

/** Reads no further than the page: the rows of one event are adjacent, so all but the last are dropped here. */
async function readPage(
  history: ProjectHistory,
  selection: ReplaySelection,
  after: string | undefined,
  { eventsMax, bytesMax }: PageBounds,
  signal: AbortSignal,
): Promise<LastRow[]> {
  const isAfter =
    after === undefined
      ? ''
      : `AND occurred_at >= toDateTime({after_s:UInt32}, 'UTC')
         AND (occurred_at, raw_event_id) > (toDateTime({after_s:UInt32}, 'UTC'), toFixedString(unhex({after:String}), 16))`;
  const rows = await history.query<LastRow>(
    `SELECT * EXCEPT (bytes, attempt_no, counter_no, bytes_before) FROM (
       SELECT *, sum(bytes) OVER (ORDER BY occurred_at_s, id, corrections DESC, counter_no DESC, attempt_no DESC
         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
       FROM (
         SELECT ${EVENT_COLUMNS}, raw_json, x_billing, subject_is_sent, ${IS_CURRENT} AS is_current,
           attempt AS attempt_no, toUInt8(is_counter) AS counter_no, ${BYTES} AS bytes
         FROM ${history.tables.events} WHERE ${SELECTED} ${isAfter}
         ORDER BY occurred_at, raw_event_id, corrections DESC, is_counter DESC, attempt DESC LIMIT {limit:UInt32}))
     WHERE bytes_before < {bytes_max:UInt64}
     ORDER BY occurred_at_s, id, corrections DESC, counter_no DESC, attempt_no DESC
     -- A backtest is in no hurry: one core is left to those who are.
     SETTINGS max_threads = 1`,
    {
      ...paramsOf(selection),
      ...(after === undefined ? {} : { after, after_s: secondsOfId(after) }),
      limit: eventsMax,
      bytes_max: bytesMax,
    },
    { signal },
  );
  return rows.filter((row, index) => row.id !== rows[index - 1]?.id);
}

function paramsOf({ extractorRuleSetId, from, to, share }: ReplaySelection) {
  const shareEnd = Math.ceil(share * SAMPLE_SPACE);
  return { rule_set: extractorRuleSetId, from, to, share_end: shareEnd };
}
