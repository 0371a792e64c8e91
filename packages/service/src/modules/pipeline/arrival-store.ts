import { sql } from 'kysely';
import type { Tx } from '../../platform/postgres/index.js';
import type { EventArrival } from './arrivals.js';

/** Adds a batch to the counts from which quotas can be recounted. The list must be sorted by key. */
export async function addArrivals(tx: Tx, arrivals: readonly EventArrival[]): Promise<void> {
  if (arrivals.length === 0) return;
  await sql`
    insert into event_arrivals as a (tenant_id, month_start, event_count)
    select * from unnest(
      ${arrivals.map(({ tenantId }) => tenantId)}::text[],
      ${arrivals.map(({ monthStartS }) => monthStartS)}::bigint[],
      ${arrivals.map(({ eventCount }) => eventCount)}::bigint[])
    on conflict (tenant_id, month_start) do update set event_count = a.event_count + excluded.event_count
  `.execute(tx);
}
