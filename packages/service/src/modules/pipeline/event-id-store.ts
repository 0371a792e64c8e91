import { type RawBuilder, sql } from 'kysely';
import { firstRawEventHex } from '../../kernel/id.js';
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
   * Blocks are read after the insert, by a later statement: if the compaction has moved an id meanwhile, the insert has
   * waited for its commit, and the block is visible. `tx` must be `read committed`.
   *
   * @param shard of the batch
   */
  async record<K extends EventKey>(tx: Tx, keys: readonly K[], shard: number): Promise<Set<K>> {
    if (keys.length === 0) return new Set();
    // Ids that are found before the insert need not be inserted and deleted again.
    const repeated = new Set(this.#repeating.has(shard) ? await compactedAmong(tx, keys) : []);
    const others = keys.filter((key) => !repeated.has(key));
    for (const key of await this.#insert(tx, others, shard)) repeated.add(key);
    const compacted = await compactedAmong(
      tx,
      others.filter((key) => !repeated.has(key)),
    );
    await forgetEventIds(tx, compacted);
    for (const key of compacted) repeated.add(key);
    if (repeated.size > 0) this.#repeating.add(shard);
    else this.#repeating.delete(shard);
    return repeated;
  }

  /** Inserts ids as loose ids; returns the keys that `usage_event_ids` had before. */
  async #insert<K extends EventKey>(tx: Tx, keys: readonly K[], shard: number): Promise<Set<K>> {
    if (keys.length === 0) return new Set();
    const insert = sql`
      insert into usage_event_ids (project_no, raw_event_id)
      select * from unnest(${projectNosOf(keys)}::integer[], ${idsOf(keys)}::uuid[]) order by 1, 2
    `;
    if (!this.#repeating.has(shard) && (await insertAll(tx, insert))) return new Set();
    const { rows } = await sql<{ project_no: number; id: string }>`
      ${insert} on conflict do nothing returning project_no, encode(uuid_send(raw_event_id), 'hex') as id
    `.execute(tx);
    const recorded = new Set(rows.map(({ project_no, id }) => `${project_no}:${id}`));
    return new Set(keys.filter(({ projectNo, idHex }) => !recorded.has(`${projectNo}:${idHex}`)));
  }
}

/** Returns the keys that are in blocks. Only old events can be there, so it usually reads just the row of the bound. */
async function compactedAmong<K extends EventKey>(tx: Tx, keys: readonly K[]): Promise<K[]> {
  if (keys.length === 0) return [];
  const compaction = await sql<{ before: number }>`
    select compacted_before as before from event_id_compaction
  `.execute(tx);
  const before = firstRawEventHex(compaction.rows[0]?.before ?? 0);
  const old = keys.filter(({ idHex }) => idHex < before);
  if (old.length === 0) return [];
  const { rows } = await sql<{ place: number }>`
    select key.place from unnest(${projectNosOf(old)}::integer[], ${idsOf(old)}::uuid[])
      with ordinality as key (project_no, id, place)
    cross join lateral (
      select ids from usage_event_id_blocks
      where project_no = key.project_no and first_id <= key.id order by first_id desc limit 1
    ) block
    where key.id = any (block.ids)
  `.execute(tx);
  const places = new Set(rows.map(({ place }) => place));
  return old.filter((_key, index) => places.has(index + 1));
}

/** Deletes ids that the same transaction has recorded, because their events are deferred or their ids are in blocks. */
export async function forgetEventIds(tx: Tx, keys: readonly EventKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from usage_event_ids known
    using unnest(${projectNosOf(keys)}::integer[], ${idsOf(keys)}::uuid[]) as unrated (project_no, raw_event_id)
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

function projectNosOf(keys: readonly EventKey[]): Buffer {
  return integerArray(keys.map(({ projectNo }) => projectNo));
}

function idsOf(keys: readonly EventKey[]): Buffer {
  return uuidArray(keys.map(({ idHex }) => idHex));
}
