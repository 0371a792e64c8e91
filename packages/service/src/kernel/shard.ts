/**
 * Projects are spread over a fixed number of slots. Work that must not run twice at a time for a project locks its
 * slot, so that correctness never depends on the number of shards, which may change at any time.
 */
export const SLOTS = 64;

/** Upper bound of the number of shards: with more, some would have no slot. */
export const SHARDS_MAX = SLOTS;

/** Returns the slot of a project, 0 to 63; it never changes. */
export function slotOf(projectNo: number): number {
  if (!Number.isSafeInteger(projectNo) || projectNo < 0) throw new RangeError(`project number ${projectNo}`);
  return projectNo % SLOTS;
}

/** Returns the shard of a project for this number of shards. Shards only group work. */
export function shardOf(projectNo: number, shards: number): number {
  return slotOf(projectNo) % shards;
}

/**
 * Returns the shards of stored rows that belong to the owner of some shards. A row keeps the shard with which it was
 * written. After the number of shards was reduced, this shard may no longer exist; the row then belongs to the owner of
 * the shard modulo the number of shards. So every row has exactly one owner.
 *
 * @param owned shards from 0 to `shards` - 1
 */
export function storedShardsOf(owned: ReadonlySet<number>, shards: number): number[] {
  return Array.from({ length: SHARDS_MAX }, (_, stored) => stored).filter((stored) =>
    owned.has(stored % shards),
  );
}
