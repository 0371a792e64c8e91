import { parseDecimal, toStored } from '../../kernel/decimal.js';
import { readNative } from '../../platform/clickhouse-format/index.js';
import type { BlockReader, ProjectHistory } from '../storage/index.js';
import { REVISIONS_BY_IDS } from './event-store.js';
import type { UsageEventRow } from './row.js';
import { EVENT_FIELDS, eventRowsOf, ROW_COLUMNS } from './row-columns.js';

/**
 * Returns the rows of all revisions of each event, oldest first, by id (32 hex digits). Events that the project does
 * not have, or does not keep, are missing. The received JSON is bytes, which share memory with all other rows.
 *
 * @param ids 32 hex digits each
 */
export async function revisionRows(
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
): Promise<EventRevisions> {
  const byId = new Map<string, UsageEventRow[]>();
  await addRevisions(byId, history, ids);
  return byId;
}

/** The revisions of events, oldest first, by id (32 hex digits). */
export type EventRevisions = ReadonlyMap<string, readonly UsageEventRow[]>;

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
  { bytesMax, idsMin }: { readonly bytesMax: number; readonly idsMin: number },
): Promise<{ readonly revisions: EventRevisions; readonly idCount: number }> {
  const revisions = new Map<string, UsageEventRow[]>();
  let idCount = 0;
  let bytes = 0;
  while (idCount < ids.length) {
    const room = bytes === 0 ? IDS_AT_ONCE_MIN : Math.floor(((bytesMax - bytes) * idCount) / bytes);
    if (room < IDS_AT_ONCE_MIN && idCount >= idsMin) break;
    const next = ids.slice(idCount, idCount + Math.max(room, IDS_AT_ONCE_MIN));
    bytes += await addRevisions(revisions, history, next);
    idCount += next.length;
  }
  return { revisions, idCount };
}

/** @returns the number of bytes that were read */
async function addRevisions(
  byId: Map<string, UsageEventRow[]>,
  history: ProjectHistory<BlockReader>,
  ids: readonly string[],
): Promise<number> {
  const bytes = await history.blocks(
    `SELECT ${ROW_COLUMNS} FROM ${history.tables.events} WHERE ${REVISIONS_BY_IDS}`,
    { ids: ids.join('') },
  );
  for (const block of readNative(bytes, [EVENT_FIELDS.rawJson])) {
    for (const row of eventRowsOf(history.scope, block)) addRevision(byId, row);
  }
  return bytes.length;
}

/** Keeps the last attempt of each revision. The rows come in no order, because most events have one. */
function addRevision(byId: Map<string, UsageEventRow[]>, row: UsageEventRow): void {
  const id = Buffer.from(row.rawEventId).toString('hex');
  const rows = byId.get(id);
  if (rows === undefined) {
    byId.set(id, [row]);
    return;
  }
  const at = rows.findIndex(({ corrections }) => corrections >= row.corrections);
  const known = rows[at];
  if (known === undefined) rows.push(row);
  else if (known.corrections > row.corrections) rows.splice(at, 0, row);
  else if (known.attempt < row.attempt) rows[at] = row;
}

/** @throws Error for text that is not a stored decimal: a missing value must not become zero */
export function storedCoefficient(text: string): bigint {
  const decimal = parseDecimal(text);
  const stored = decimal === undefined ? undefined : toStored(decimal);
  if (stored === undefined) throw new Error(`ClickHouse returned ${text} for a decimal`);
  return stored;
}
