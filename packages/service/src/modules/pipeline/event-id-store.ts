import { type RawBuilder, sql } from 'kysely';
import { integerArray, isUniqueViolation, type Tx, uuidArray } from '../../platform/postgres/index.js';

/** A project's event, as the id index knows it. */
export interface EventKey {
  readonly projectNo: number;
  readonly idHex: string;
}

/**
 * Knows which events were rated, by their ids: of one worker, shared by its loops. Nearly always all ids of a
 * batch are new, and to insert them as such takes half the time of looking at each for a conflict. Where one
 * was rated before, that insert is undone, and the ids are looked at; and so they are at once in the next
 * batch, because a client that repeats events often repeats many.
 */
export class EventIds {
  #expectsRepeats = false;

  /**
   * Records ids as rated and answers which of them were rated before. `keys` must be distinct. They are
   * inserted in the order of the index, by all workers alike, so that two that share events cannot wait for
   * each other in a circle.
   */
  async record<K extends EventKey>(tx: Tx, keys: readonly K[]): Promise<Set<K>> {
    if (keys.length === 0) return new Set();
    const insert = sql`
      insert into usage_event_ids (project_no, raw_event_id)
      select * from unnest(
        ${integerArray(keys.map(({ projectNo }) => projectNo))}::integer[],
        ${uuidArray(keys.map(({ idHex }) => idHex))}::uuid[]) order by 1, 2
    `;
    if (!this.#expectsRepeats && (await insertAll(tx, insert))) return new Set();
    const { rows } = await sql<{ project_no: number; id: string }>`
      ${insert} on conflict do nothing returning project_no, encode(uuid_send(raw_event_id), 'hex') as id
    `.execute(tx);
    this.#expectsRepeats = rows.length < keys.length;
    const recorded = new Set(rows.map(({ project_no, id }) => `${project_no}:${id}`));
    return new Set(keys.filter(({ projectNo, idHex }) => !recorded.has(`${projectNo}:${idHex}`)));
  }
}

/** Deletes ids that the same transaction has recorded, because their events are deferred. */
export async function forgetEventIds(tx: Tx, keys: readonly EventKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from usage_event_ids known using unnest(
      ${integerArray(keys.map(({ projectNo }) => projectNo))}::integer[],
      ${uuidArray(keys.map(({ idHex }) => idHex))}::uuid[]) as unrated (project_no, raw_event_id)
    where known.project_no = unrated.project_no and known.raw_event_id = unrated.raw_event_id
  `.execute(tx);
}

/** Whether all were new; otherwise none is inserted. */
async function insertAll(tx: Tx, insert: RawBuilder<unknown>): Promise<boolean> {
  await sql`savepoint event_ids`.execute(tx);
  try {
    await insert.execute(tx);
  } catch (error) {
    // By whatever name: of a table in parts, each part has its own.
    if (!isUniqueViolation(error)) throw error;
    await sql`rollback to savepoint event_ids`.execute(tx);
    return false;
  }
  await sql`release savepoint event_ids`.execute(tx);
  return true;
}
