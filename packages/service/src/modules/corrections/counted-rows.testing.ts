import type { CounterOwner } from './counted-oracle.testing.js';
import type { CorrectionsProject } from './project.testing.js';

/** A counter in a period, as it is stored. */
export interface CounterInPeriod {
  readonly key: string;
  /** Empty unless the counter is one of a subject. */
  readonly subject: string;
  /** Empty unless the counter is one of an account. */
  readonly account: string;
  readonly by: Readonly<Record<string, string | null>>;
  readonly startS: number;
  readonly endS: number | null;
  readonly quantity: string;
  readonly amount: string;
  readonly itemCount: number;
  readonly valueCount: number;
}

/** A charge item by a total that is in force, or what is left of one. */
export interface ItemInForce {
  readonly subject: string;
  readonly account: string;
  readonly amount: string;
  readonly model: string;
  readonly source: string;
  /** The counter of which a remainder is left; empty for other items. */
  readonly key: string;
  readonly startS: number;
}

/** Counters with their totals: the tables of a query. */
export const STORED_COUNTERS = `usage_counters c join projects p on p.id = c.project_id
  join usage_counter_totals t on t.project_no = p.no and t.id = c.totals_id`;

export function storedCounters({ fixture, projectId }: CorrectionsProject): Promise<CounterInPeriod[]> {
  return fixture.rows<CounterInPeriod>(
    `select encode(key, 'hex') as key, subject_id as subject, account_id as account, by_dimensions as by,
       period_start as "startS", period_end as "endS", quantity::text, amount::text, item_count as "itemCount",
       value_count as "valueCount"
     from ${STORED_COUNTERS} where project_id = $1`,
    [projectId],
  );
}

/** Returns quantity, amount and number of charge items of each counter in a period, as one text. */
export async function counterTexts({ fixture, projectId }: CorrectionsProject): Promise<string[]> {
  const rows = await fixture.rows<{ text: string }>(
    `select concat_ws(' ', trim_scale(quantity), trim_scale(amount), item_count) as text
     from ${STORED_COUNTERS} where project_id = $1 order by subject_id, period_start`,
    [projectId],
  );
  return rows.map(({ text }) => text);
}

export function itemsInForce({ fixture, projectId }: CorrectionsProject): Promise<ItemInForce[]> {
  return fixture.house.clickhouse.query<ItemInForce>(
    `SELECT subject_id AS subject, account_id AS account, toString(item.amount + item.discount) AS amount,
       dimensions['model'] AS model, item.source AS source, JSONExtractString(item.cumulative, 'key') AS key,
       JSONExtractUInt(item.cumulative, 'period_start')::UInt32 AS startS
     FROM usage_events ARRAY JOIN item WHERE project_id = {project:String} AND NOT is_counter AND item.cumulative != ''
       AND (raw_event_id, corrections) NOT IN (
         SELECT raw_event_id, corrections FROM usage_events WHERE project_id = {project:String} AND is_counter)`,
    { project: projectId },
  );
}

/** Whether an item, or what is left of one, is charged in a period. */
export function isChargedIn(
  item: ItemInForce,
  { key, subject, account, by, startS }: CounterInPeriod,
): boolean {
  if (item.startS !== startS) return false;
  if (item.source === 'correction') return item.key === key;
  if (subject !== '' && item.subject !== subject) return false;
  if (account !== '' && item.account !== account) return false;
  return by.model === undefined || item.model === (by.model ?? '');
}

/** Returns the start of the stored period of a counter that contains an instant, which must be exactly one. */
export function storedPeriodAt(
  counters: readonly CounterInPeriod[],
  { subject, account, values }: CounterOwner,
  atS: number,
): string {
  const found = counters.filter(
    (each) =>
      each.subject === subject &&
      each.account === account &&
      JSON.stringify(Object.values(each.by)) === JSON.stringify(values) &&
      each.startS <= atS &&
      (each.endS === null || atS < each.endS),
  );
  return found.map(({ startS }) => `from ${startS}`).join(' and ') || 'none';
}

/** Returns the starts of periods that begin before another period of their counter has ended. */
export function overlappingStarts(counters: readonly CounterInPeriod[]): number[] {
  const overlaps = (a: CounterInPeriod, b: CounterInPeriod) =>
    a !== b && a.key === b.key && b.startS <= a.startS && (b.endS === null || a.startS < b.endS);
  return counters.filter((a) => counters.some((b) => overlaps(a, b))).map(({ startS }) => startS);
}
