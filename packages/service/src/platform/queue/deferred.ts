import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { utcMonthAt } from '../../kernel/period.js';
import type { Tx } from '../postgres/index.js';
import type { DeferredTurn, TurnChoice } from './queue.js';
import { recordBytes, type SegmentRecord } from './segment.js';

/** Upper bounds of a deferred segment, unless one request is larger; small, so that a turn puts back little. */
const DEFERRED_SEGMENT_EVENTS_MAX = 100;
const DEFERRED_SEGMENT_BYTES_MAX = 256 * 1_024;

/** Returns those of the tenants that have deferred segments. */
export async function deferredAmong(tx: Tx, tenantIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${tenantIds}::text[]) as asked (id)
    where exists (select from segments where deferred_tenant_id = asked.id)
  `.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/** A value that comes before all turns. */
export const FIRST_TURN: DeferredTurn = { tenantId: '', shard: 0 };

/** Returns the next turn after another one, in a circle of tenants and shards; undefined if there is none. */
export async function nextDeferred(
  tx: Tx,
  after: DeferredTurn,
  among: TurnChoice,
): Promise<DeferredTurn | undefined> {
  const next = await firstTurnAfter(tx, after, among);
  return next ?? (after.tenantId === '' ? undefined : firstTurnAfter(tx, FIRST_TURN, among));
}

/** Reads one row of each turn on the way, however many segments wait. */
async function firstTurnAfter(
  tx: Tx,
  after: DeferredTurn,
  { shards, withoutTenants = [] }: TurnChoice,
): Promise<DeferredTurn | undefined> {
  const { rows } = await sql<DeferredTurn>`
    with recursive turns as (
      (select deferred_tenant_id as tenant_id, shard from segments
        where deferred_tenant_id is not null
          and (deferred_tenant_id, shard) > (${after.tenantId}, ${after.shard}::smallint)
        order by deferred_tenant_id, shard limit 1)
      union all
      select next.* from turns cross join lateral (
        select deferred_tenant_id, shard from segments
        where deferred_tenant_id is not null
          and (deferred_tenant_id, shard) > (turns.tenant_id, turns.shard)
        order by deferred_tenant_id, shard limit 1
      ) as next
    )
    select tenant_id as "tenantId", shard from turns
    where ${isAmong(shards)} and tenant_id <> all(${withoutTenants}::text[]) limit 1
  `.execute(tx);
  return rows[0];
}

/** Returns the condition that the column `shard` is one of these; undefined means any shard. */
export function isAmong(shards: readonly number[] | undefined): RawBuilder<boolean> {
  return shards === undefined ? sql`true` : sql`shard = any(${shards}::smallint[])`;
}

/** Groups requests into deferred segments: a few requests of one project and one month in each. */
export function deferredChunks(records: readonly SegmentRecord[]): SegmentRecord[][] {
  const chunks: SegmentRecord[][] = [];
  const open = new Map<string, { records: SegmentRecord[]; events: number; bytes: number }>();
  for (const record of records) {
    const { projectId } = record.scope;
    const key = `${projectId} ${utcMonthAt(record.receivedAtMs / 1_000).startS}`;
    const bytes = recordBytes(record);
    let chunk = open.get(key);
    if (
      chunk === undefined ||
      chunk.events + record.eventCount > DEFERRED_SEGMENT_EVENTS_MAX ||
      chunk.bytes + bytes > DEFERRED_SEGMENT_BYTES_MAX
    ) {
      chunk = { records: [], events: 0, bytes: 0 };
      open.set(key, chunk);
      chunks.push(chunk.records);
    }
    chunk.records.push(record);
    chunk.events += record.eventCount;
    chunk.bytes += bytes;
  }
  return chunks;
}

/** Runs a statement with its parameters in `tx`. */
export async function executeRaw(tx: Tx, text: string, values: readonly unknown[]): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(text, [...values]));
}
