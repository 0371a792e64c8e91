import { CompiledQuery, sql } from 'kysely';
import { utcMonthAt } from '../../kernel/period.js';
import type { Tx } from '../postgres/index.js';
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

/** Returns the next tenant with deferred segments after another one, in a circle of ids; undefined if there is none. */
export async function nextDeferredTenant(tx: Tx, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string | null }>`
    select coalesce(
      (select deferred_tenant_id from segments where deferred_tenant_id > ${after} order by deferred_tenant_id limit 1),
      (select deferred_tenant_id from segments where deferred_tenant_id is not null order by deferred_tenant_id limit 1)
    ) as id
  `.execute(tx);
  return rows[0]?.id ?? undefined;
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
