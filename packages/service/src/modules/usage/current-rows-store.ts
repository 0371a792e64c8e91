import type { ProjectHistory } from '../storage/index.js';
import { secondsOfId } from './event-store.js';

/** How much is read at a time. The last event may exceed the bytes. */
export interface PageBounds {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** Rows of `usage_events`, of which those in force are read. */
export interface RowSource {
  /** Including `id` and `occurred_at_s`. */
  readonly columns: string;
  /** Selects all rows of a revision or none, its reversal row included; contains `OWN_ROWS`. */
  readonly condition: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Approximate size of a row. */
  readonly bytes: string;
}

/** Whether a row, if it is the last of its event, is in force: it is not taken back, and the event is not voided. */
export const IS_CURRENT = "NOT is_counter AND status != 'voided'";

/**
 * Returns the rows in force of the next events after a given one, oldest first; none at the end. An event whose last
 * selected row is a reversal row has its present revision elsewhere, and is left out.
 */
export async function readCurrentRows<Row extends { readonly id: string }>(
  history: ProjectHistory,
  source: RowSource,
  after: string | undefined,
  bounds: PageBounds,
  signal: AbortSignal,
): Promise<Row[]> {
  let last = after;
  for (;;) {
    const events = await readPage<Row>(history, source, last, bounds, signal);
    const current = events.filter(({ is_current: isCurrent }) => isCurrent);
    last = events.at(-1)?.id;
    if (current.length > 0 || last === undefined)
      return current.map(({ is_current: _isCurrent, ...row }) => row as unknown as Row);
  }
}

/** The last row of an event among those that are selected. */
type LastRow<Row> = Row & { readonly is_current: boolean };

/** Reads no further than the page: the rows of one event are adjacent, so all but the last are dropped here. */
async function readPage<Row extends { readonly id: string }>(
  history: ProjectHistory,
  { columns, condition, params, bytes }: RowSource,
  after: string | undefined,
  { eventsMax, bytesMax }: PageBounds,
  signal: AbortSignal,
): Promise<LastRow<Row>[]> {
  const isAfter =
    after === undefined
      ? ''
      : `AND occurred_at >= toDateTime({after_s:UInt32}, 'UTC')
         AND (occurred_at, raw_event_id) > (toDateTime({after_s:UInt32}, 'UTC'), toFixedString(unhex({after:String}), 16))`;
  const rows = await history.query<LastRow<Row>>(
    `SELECT * EXCEPT (bytes, attempt_no, correction_no, counter_no, bytes_before) FROM (
       SELECT *, sum(bytes) OVER (ORDER BY occurred_at_s, id, correction_no DESC, counter_no DESC, attempt_no DESC
         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
       FROM (
         SELECT ${columns}, ${IS_CURRENT} AS is_current, attempt AS attempt_no, corrections AS correction_no,
           toUInt8(is_counter) AS counter_no, ${bytes} AS bytes
         FROM ${history.tables.events} WHERE ${condition} ${isAfter}
         ORDER BY occurred_at, raw_event_id, corrections DESC, is_counter DESC, attempt DESC LIMIT {limit:UInt32}))
     WHERE bytes_before < {bytes_max:UInt64}
     ORDER BY occurred_at_s, id, correction_no DESC, counter_no DESC, attempt_no DESC
     -- A backtest is in no hurry: one core is left to those who are.
     SETTINGS max_threads = 1`,
    {
      ...params,
      ...(after === undefined ? {} : { after, after_s: secondsOfId(after) }),
      limit: eventsMax,
      bytes_max: bytesMax,
    },
    { signal },
  );
  return rows.filter((row, index) => row.id !== rows[index - 1]?.id);
}
