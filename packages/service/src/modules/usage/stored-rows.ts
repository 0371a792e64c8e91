import { parseDecimal, toStored } from '../../kernel/decimal.js';
import { memoized } from '../../kernel/maps.js';
import { present } from '../../kernel/present.js';
import { type NativeRows, readNative, type Values } from '../../platform/clickhouse-format/index.js';
import type { BlockReader, HistoryScope, ProjectHistory } from '../storage/index.js';
import { REVISIONS_BY_IDS } from './event-store.js';
import type { UsageEventRow } from './row.js';
import {
  COLUMNS_WITHOUT_JSON,
  EVENT_FIELDS,
  eventRowReader,
  JSON_BYTES,
  ROW_COLUMNS,
} from './row-columns.js';

/** A row of a block, which is not read yet. */
interface StoredRow {
  readonly attempt: number;
  readonly corrections: number;
  readonly jsonBytes: number;
  readonly rowAt: (at: number) => UsageEventRow;
  readonly at: number;
}

/**
 * The revisions of events, oldest first, by id (32 hex digits). A row is read from its block when it is asked for, so
 * the rows of many events are never in memory together. The received JSON is bytes, which share memory with all others.
 */
export class EventRevisions {
  readonly #byId = new Map<string, StoredRow[]>();

  get size(): number {
    return this.#byId.size;
  }

  ids(): IterableIterator<string> {
    return this.#byId.keys();
  }

  /** Returns the rows of all revisions of an event; undefined for an event that the project does not have or keep. */
  of(id: string): UsageEventRow[] | undefined {
    return this.#byId.get(id)?.map(rowOf);
  }

  /** Returns the row of its latest revision. */
  latest(id: string): UsageEventRow | undefined {
    const row = this.#byId.get(id)?.at(-1);
    return row && rowOf(row);
  }

  /** Returns how often an event was corrected; see `UsageEventRow`. */
  correctionsOf(id: string): number | undefined {
    return this.#byId.get(id)?.at(-1)?.corrections;
  }

  /** Returns the size of the JSON that its latest revision has, also where the JSON itself was not read. */
  jsonBytesOf(id: string): number {
    return present(this.#byId.get(id)?.at(-1), `a revision of evt_${id}`).jsonBytes;
  }

  /** Returns how many revisions an event has, and the size of the JSON of all of them. */
  historyOf(id: string): { readonly revisions: number; readonly jsonBytes: number } {
    const rows = present(this.#byId.get(id), `the revisions of evt_${id}`);
    return { revisions: rows.length, jsonBytes: rows.reduce((sum, { jsonBytes }) => sum + jsonBytes, 0) };
  }

  /** Adds the rows of a block, which come in no order. Keeps the last attempt of each revision. */
  add(scope: HistoryScope, block: NativeRows): void {
    const rowAt = eventRowReader(scope, block);
    const ids = block.column<Values<Buffer>>(EVENT_FIELDS.rawEventId);
    const attempts = block.column<Values<number>>(EVENT_FIELDS.attempt);
    const corrections = block.column<Values<number>>(EVENT_FIELDS.corrections);
    const jsonBytes = block.column<Values<number>>('json_bytes');
    for (let at = 0; at < block.rowCount; at++) {
      const numbers = {
        attempt: attempts.at(at),
        corrections: corrections.at(at),
        jsonBytes: jsonBytes.at(at),
      };
      addRevision(
        memoized(this.#byId, ids.at(at).toString('hex'), () => []),
        { ...numbers, rowAt, at },
      );
    }
  }
}

function rowOf({ rowAt, at }: StoredRow): UsageEventRow {
  return rowAt(at);
}

function addRevision(rows: StoredRow[], row: StoredRow): void {
  const at = rows.findIndex(({ corrections }) => corrections >= row.corrections);
  const known = rows[at];
  if (known === undefined) rows.push(row);
  else if (known.corrections > row.corrections) rows.splice(at, 0, row);
  else if (known.attempt < row.attempt) rows[at] = row;
}

/** The columns to read. */
export interface RevisionsRead {
  /** Leaves the received JSON empty, for readers that need nothing of it: it is most of an event's bytes. */
  readonly withoutJson?: boolean;
}

/** Returns the revisions of events. @param ids 32 hex digits each */
export async function revisionRows(
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
): Promise<EventRevisions> {
  const all = { bytesMax: READ_BYTES_MAX, idsMin: ids.length };
  return (await firstRevisions(history, ids, all)).revisions;
}

/** Ids that are read at once before the size of their rows is known. */
const IDS_AT_ONCE_MIN = 250;
/** Upper bound of the rows that are read at once. */
const READ_BYTES_MAX = 64 * 1_048_576;
/** Upper bound of the revisions of one event: to read more could take the memory of all tenants. */
const EVENT_BYTES_MAX = 512 * 1_048_576;

/**
 * Returns the same for the first of many events, as many as have about `bytesMax` bytes, and at least `idsMin`: events
 * may be large. Fewer are read at once where their rows would have more bytes than that.
 *
 * @returns with the number of the ids that were read
 * @throws Error if one event has too many large revisions
 */
export async function firstRevisions(
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
  { bytesMax, idsMin, ...read }: RevisionsRead & { readonly bytesMax: number; readonly idsMin: number },
): Promise<{ readonly revisions: EventRevisions; readonly idCount: number }> {
  const revisions = new EventRevisions();
  let idCount = 0;
  let bytes = 0;
  // A part of large events has few of them.
  let atOnce = idsMin === 1 ? IDS_AT_ONCE_MIN : Math.min(idsMin, IDS_AT_ONCE_MIN);
  while (idCount < ids.length) {
    const next = ids.slice(idCount, idCount + atOnce);
    const found = await readBlocks(history, next, { bytesMax, ...read });
    if (found === undefined) {
      atOnce = Math.ceil(next.length / 2);
      continue;
    }
    for (const block of readNative(found, [EVENT_FIELDS.rawJson])) revisions.add(history.scope, block);
    bytes += found.length;
    idCount += next.length;
    const room = bytes === 0 ? IDS_AT_ONCE_MIN : Math.floor(((bytesMax - bytes) * idCount) / bytes);
    if (room < IDS_AT_ONCE_MIN && idCount >= idsMin) break;
    atOnce = Math.max(room, Math.min(atOnce, IDS_AT_ONCE_MIN));
  }
  return { revisions, idCount };
}

/** Returns the rows of events as blocks; undefined if several events have more than about `bytesMax` bytes. */
async function readBlocks(
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
  { bytesMax, withoutJson = false }: RevisionsRead & { readonly bytesMax: number },
): Promise<Uint8Array | undefined> {
  const columns = withoutJson ? COLUMNS_WITHOUT_JSON : ROW_COLUMNS;
  const blocks = await history.blocks(
    ids.length > 1 ? bytesMax : EVENT_BYTES_MAX,
    `SELECT ${columns}, ${JSON_BYTES} FROM ${history.tables.events} AS event WHERE ${REVISIONS_BY_IDS}`,
    { ids: ids.join('') },
  );
  if (blocks === undefined && ids.length === 1)
    throw new Error(`the revisions of evt_${ids[0]} have more than ${EVENT_BYTES_MAX} bytes`);
  return blocks;
}

/** @throws Error for text that is not a stored decimal: a missing value must not become zero */
export function storedCoefficient(text: string): bigint {
  const decimal = parseDecimal(text);
  const stored = decimal === undefined ? undefined : toStored(decimal);
  if (stored === undefined) throw new Error(`ClickHouse returned ${text} for a decimal`);
  return stored;
}
