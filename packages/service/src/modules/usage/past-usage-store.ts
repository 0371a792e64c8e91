import type { ProjectHistory } from '../storage/index.js';
import { IS_CURRENT, type PageBounds, readCurrentRows } from './current-rows-store.js';
import { IN_SCOPE } from './event-store.js';
import { nestedValue } from './event-view.js';
import type { UsageItemRow } from './row.js';
import { storedCoefficient } from './stored-rows.js';

/** A subject at which usage counts. */
export interface NamedSubject {
  readonly type: string;
  readonly id: string;
}

/** Which stored events are counted. Times are Unix seconds. */
export interface PastUsageSelection {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Events that count for one of these subjects, their own or one above; undefined for any subject of the types. */
  readonly subjects: readonly NamedSubject[] | undefined;
  readonly types: readonly string[];
  /** The dimensions to read. */
  readonly dimensions: readonly string[];
}

/** The fields of a charge item that limits depend on. */
export type PastUsageItem = Pick<UsageItemRow, 'metric' | 'currency' | 'quantity' | 'amount' | 'source'>;

/** A stored event as limits count it: its revision in force. */
export interface PastUsage {
  /** 32 hex digits. */
  readonly id: string;
  readonly occurredAt: number;
  readonly subject: NamedSubject;
  /** The subjects above at which it counts. */
  readonly parents: readonly NamedSubject[];
  readonly dimensions: ReadonlyMap<string, string>;
  readonly items: readonly PastUsageItem[];
}

interface PastUsageRow {
  readonly id: string;
  readonly occurred_at_s: number;
  readonly own_type: string;
  readonly own_id: string;
  readonly parent_types: readonly string[];
  readonly parent_ids: readonly string[];
  readonly wanted_dimensions: Readonly<Record<string, string>>;
  readonly metrics: readonly string[];
  readonly currencies: readonly string[];
  readonly quantities: readonly string[];
  readonly amounts: readonly string[];
  readonly sources: readonly UsageItemRow['source'][];
}

// Aliases differ from the names of their columns: ClickHouse would take the alias wherever a condition names both.
const COLUMNS = `lower(hex(raw_event_id)) AS id, toUnixTimestamp(occurred_at) AS occurred_at_s,
  subject_type AS own_type, subject_id AS own_id, parent.type AS parent_types, parent.id AS parent_ids,
  mapFilter((name, _) -> has({dimensions:Array(String)}, name), dimensions) AS wanted_dimensions,
  item.metric AS metrics, item.currency AS currencies, item.quantity AS quantities, item.amount AS amounts,
  item.source AS sources`;
/** Approximate size of the texts of an event, and of those of a charge item. */
const BYTES = '256 + 128 * length(item.metric)';
const SELECTED = `${IN_SCOPE}
  AND occurred_at >= toDateTime({from:UInt32}, 'UTC') AND occurred_at < toDateTime({to:UInt32}, 'UTC')`;
const OF_TYPES = '(has({types:Array(String)}, subject_type) OR hasAny({types:Array(String)}, parent.type))';
const SUBJECTS = 'arrayZip({subject_types:Array(String)}, {subject_ids:Array(String)})';
const OF_SUBJECTS = `(has(${SUBJECTS}, (toString(subject_type), subject_id))
  OR arrayExists((type, id) -> has(${SUBJECTS}, (toString(type), id)), parent.type, parent.id))`;

/** Counts the events of the selection, up to `eventsMax`. Events with corrections may count more than once. */
export async function countPastUsage(
  history: ProjectHistory,
  selection: PastUsageSelection,
  eventsMax: number,
): Promise<number> {
  const { condition, params } = sourceOf(selection);
  const [row] = await history.query<{ events: string }>(
    `SELECT count() AS events FROM (
       SELECT 1 FROM ${history.tables.events} WHERE ${condition} AND ${IS_CURRENT} LIMIT {limit:UInt32})`,
    { ...params, limit: eventsMax },
  );
  return Number(row?.events ?? 0);
}

/** Returns the next events of the selection after a given one, oldest first; none at the end. */
export async function readPastUsage(
  history: ProjectHistory,
  selection: PastUsageSelection,
  after: string | undefined,
  bounds: PageBounds,
  signal: AbortSignal,
): Promise<PastUsage[]> {
  const rows = await readCurrentRows<PastUsageRow>(history, sourceOf(selection), after, bounds, signal);
  return rows.map(pastUsageOf);
}

function sourceOf({ from, to, subjects, types, dimensions }: PastUsageSelection) {
  const ofSubjects = subjects === undefined ? OF_TYPES : `${OF_TYPES} AND ${OF_SUBJECTS}`;
  return {
    columns: COLUMNS,
    condition: `${SELECTED} AND ${ofSubjects}`,
    bytes: BYTES,
    params: {
      ...{ from, to, types, dimensions },
      ...(subjects === undefined
        ? {}
        : {
            subject_types: subjects.map(({ type }) => type),
            subject_ids: subjects.map(({ id }) => id),
          }),
    },
  };
}

function pastUsageOf(row: PastUsageRow): PastUsage {
  return {
    id: row.id,
    occurredAt: row.occurred_at_s,
    subject: { type: row.own_type, id: row.own_id },
    parents: row.parent_types.map((type, index) => ({ type, id: nestedValue(row.parent_ids, index) })),
    dimensions: new Map(Object.entries(row.wanted_dimensions)),
    items: row.metrics.map((metric, index) => ({
      metric,
      currency: nestedValue(row.currencies, index),
      quantity: storedCoefficient(nestedValue(row.quantities, index)),
      amount: storedCoefficient(nestedValue(row.amounts, index)),
      source: nestedValue(row.sources, index),
    })),
  };
}
