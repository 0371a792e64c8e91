import type { ProjectDb } from '../../platform/postgres/index.js';

/** Counts of a project's accepted events by outcome, at one moment. */
export interface IngestCounts {
  readonly processed: number;
  readonly failed: number;
  readonly voided: number;
  readonly duplicates: number;
  readonly pending: number;
  /** Pending events that wait behind slow events of their own tenant. */
  readonly deferred: number;
  /** When the oldest of them was received; null when there is none. */
  readonly oldestDeferredAtMs: number | null;
  /** Processed events with a charge item that has no price. */
  readonly unpriced: number;
  /** When the oldest accepted event that is not in ClickHouse yet was received; null when there is none. */
  readonly oldestReceivedAtMs: number | null;
}

/**
 * Counts with one statement, and so one snapshot: an event on its way from the queue into the totals is in exactly one
 * of them. Segments contain events of several projects, and reprocessed ones with a count of 0.
 */
export async function ingestCounts(db: ProjectDb): Promise<IngestCounts> {
  const { projectId } = db.scope;
  const counts = await db.row<IngestCounts>`
    select coalesce(total.processed_count, 0) as processed, coalesce(total.failed_count, 0) as failed,
      coalesce(total.voided_count, 0) as voided,
      coalesce(total.duplicate_count, 0) as duplicates, coalesce(queued.pending, 0)::bigint as pending,
      coalesce(queued.deferred, 0)::bigint as deferred, queued.oldest_deferred_ms as "oldestDeferredAtMs",
      counted.unpriced, least(queued.oldest_ms, batched.oldest_ms) as "oldestReceivedAtMs"
    from (
      select sum(part.event_count) as pending,
        sum(part.event_count) filter (where segment.deferred_tenant_id is not null) as deferred,
        min(segment.received_at_ms) filter (where part.event_count > 0) as oldest_ms,
        min(segment.received_at_ms) filter (where part.event_count > 0 and segment.deferred_tenant_id is not null)
          as oldest_deferred_ms
      from segments segment
        cross join lateral unnest(segment.project_ids, segment.project_event_counts) as part (project_id, event_count)
      where segment.project_ids @> array[${projectId}] and part.project_id = ${projectId}
    ) queued
    cross join (
      select min(oldest_received_at_ms) as oldest_ms from usage_batches where project_ids @> array[${projectId}]
    ) batched
    cross join (
      select coalesce(sum(unpriced_count), 0)::bigint as unpriced from usage_event_totals
      where ${db.isOwn()}
    ) counted
    left join ingest_totals total on ${db.isOwn('total')}`;
  if (counts === undefined) throw new Error('an aggregate returned no row');
  return counts;
}
