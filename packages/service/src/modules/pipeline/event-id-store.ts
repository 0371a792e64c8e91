import { type RawBuilder, sql } from 'kysely';
import { integerArray, isUniqueViolation, type Tx, uuidArray } from '../../platform/postgres/index.js';

/** The key of an event in the id index. */
export interface EventKey {
  readonly projectNo: number;
  readonly idHex: string;
}

/**
 * Records which events were rated, by their ids. One object is shared by all loops of a worker. Nearly always all ids
 * of a batch are new, and a plain insert takes half the time of an insert that checks each id for a conflict. When an
 * id exists, the plain insert is rolled back and repeated with checks. The next batch of the shard starts with checks,
 * because a client that repeats events often repeats many.
 */
export class EventIds {
  /** Shards whose last batch repeated events. */
  readonly #repeating = new Set<number>();

  /**
   * Records ids as rated, and returns those that were rated before. `keys` must be distinct. All workers insert in the
   * order of the index, so that two that share events cannot deadlock.
   *
   * @param shard of the batch
   */
  async record<K extends EventKey>(tx: Tx, keys: readonly K[], shard: number): Promise<Set<K>> {
    if (keys.length === 0) return new Set();
    const insert = sql`
      insert into usage_event_ids (project_no, raw_event_id)
      select * from unnest(
        ${integerArray(keys.map(({ projectNo }) => projectNo))}::integer[],
        ${uuidArray(keys.map(({ idHex }) => idHex))}::uuid[]) order by 1, 2
    `;
    if (!this.#repeating.has(shard) && (await insertAll(tx, insert))) return new Set();
    const { rows } = await sql<{ project_no: number; id: string }>`
      ${insert} on conflict do nothing returning project_no, encode(uuid_send(raw_event_id), 'hex') as id
    `.execute(tx);
    if (rows.length < keys.length) this.#repeating.add(shard);
    else this.#repeating.delete(shard);
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

/** Inserts all ids or none; returns whether all were new. */
async function insertAll(tx: Tx, insert: RawBuilder<unknown>): Promise<boolean> {
  await sql`savepoint event_ids`.execute(tx);
  try {
    await insert.execute(tx);
  } catch (error) {
    // The name of the constraint is not checked, because each partition of the table has its own.
    if (!isUniqueViolation(error)) throw error;
    await sql`rollback to savepoint event_ids`.execute(tx);
    return false;
  }
  await sql`release savepoint event_ids`.execute(tx);
  return true;
}
