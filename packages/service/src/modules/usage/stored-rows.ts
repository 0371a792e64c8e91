import { parseDecimal, toStored } from '../../kernel/decimal.js';
import { memoized } from '../../kernel/maps.js';
import { type NativeRows, readNative, type Values } from '../../platform/clickhouse-format/index.js';
import type { BlockReader, HistoryScope, ProjectHistory } from '../storage/index.js';
import { REVISIONS_BY_IDS } from './event-store.js';
import type { UsageEventRow } from './row.js';
import { COLUMNS_WITHOUT_JSON, EVENT_FIELDS, eventRowReader, ROW_COLUMNS } from './row-columns.js';

/** A row of a block, which is not read yet. */
interface StoredRow {
  readonly attempt: number;
  readonly corrections: number;
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

  /** Adds the rows of a block, which come in no order. Keeps the last attempt of each revision. */
  add(scope: HistoryScope, block: NativeRows): void {
    const rowAt = eventRowReader(scope, block);
    const ids = block.column<Values<Buffer>>(EVENT_FIELDS.rawEventId);
    const attempts = block.column<Values<number>>(EVENT_FIELDS.attempt);
    const corrections = block.column<Values<number>>(EVENT_FIELDS.corrections);
    for (let at = 0; at < block.rowCount; at++) {
      const row = { attempt: attempts.at(at), corrections: corrections.at(at), rowAt, at };
      addRevision(
        memoized(this.#byId, ids.at(at).toString('hex'), () => []),
        row,
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
  const revisions = new EventRevisions();
  await addRevisions(revisions, history, ids, {});
  return revisions;
}

/** Ids that are read at least: the size of their rows says how many more there is room for. */
const IDS_AT_ONCE_MIN = 250;

/**
 * Returns the same for the first of many events, as many as have about `bytesMax` bytes, and at least `idsMin`: events
 * may be large.
 *
 * @returns with the number of the ids that were read
 */
export async function firstRevisions(
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
  { bytesMax, idsMin, ...read }: RevisionsRead & { readonly bytesMax: number; readonly idsMin: number },
): Promise<{ readonly revisions: EventRevisions; readonly idCount: number }> {
  const revisions = new EventRevisions();
  let idCount = 0;
  let bytes = 0;
  while (idCount < ids.length) {
    const room = bytes === 0 ? IDS_AT_ONCE_MIN : Math.floor(((bytesMax - bytes) * idCount) / bytes);
    if (room < IDS_AT_ONCE_MIN && idCount >= idsMin) break;
    const next = ids.slice(idCount, idCount + Math.max(room, IDS_AT_ONCE_MIN));
    bytes += await addRevisions(revisions, history, next, read);
    idCount += next.length;
  }
  return { revisions, idCount };
}

/** @returns the number of bytes that were read */
async function addRevisions(
  revisions: EventRevisions,
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
  { withoutJson = false }: RevisionsRead,
): Promise<number> {
  const bytes = await history.blocks(
    `SELECT ${withoutJson ? COLUMNS_WITHOUT_JSON : ROW_COLUMNS} FROM ${history.tables.events} WHERE ${REVISIONS_BY_IDS}`,
    { ids: ids.join('') },
  );
  for (const block of readNative(bytes, [EVENT_FIELDS.rawJson])) revisions.add(history.scope, block);
  return bytes.length;
}

/** @throws Error for text that is not a stored decimal: a missing value must not become zero */
export function storedCoefficient(text: string): bigint {
  const decimal = parseDecimal(text);
  const stored = decimal === undefined ? undefined : toStored(decimal);
  if (stored === undefined) throw new Error(`ClickHouse returned ${text} for a decimal`);
  return stored;
}
