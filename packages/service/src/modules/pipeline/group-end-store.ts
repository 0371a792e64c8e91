import { type RawBuilder, sql } from 'kysely';
import { lockKey } from '../../platform/postgres/index.js';
import { LAST_DAY_UNKNOWN } from '../storage/index.js';
import type { ProjectionGroup } from './turns.js';

/** Names the advisory lock under which projections get their positions. */
const POSITIONS_LOCK = 'tollgate-projections';
/**
 * A project whose group changes more ranges than this is stored with one range around them, which bounds the size of
 * the row.
 */
const PROJECTION_SPANS_MAX = 64;
/** Streams that fall further behind than this must read everything again. */
const PROJECTIONS_KEPT_MS = 10 * 60_000;

/** The rows of a group, as an object of the archive. */
export interface ArchivedRows {
  readonly objectKey: string;
  /** The size of the rows, uncompressed. */
  readonly byteCount: number;
}

/**
 * Returns the statement that ends a group; its row says how many batches were deleted. If another projector has changed
 * the group, it changes nothing. See `ProjectorSession.endGroup`.
 */
export function groupEnd(
  { group, no, batches, dedicatedTo }: ProjectionGroup,
  archived: ArchivedRows | undefined,
  nowMs: number,
): RawBuilder<{ deleted: number }> {
  return sql`
    with whole as materialized (
      select id from usage_batches where insert_group = ${group} order by id for update
    ), ended as (
      delete from usage_batches batch using whole
      where batch.id = whole.id and (select count(*) from whole) = ${batches.length}
      returning event_count, project_ids, first_days, last_day, touched
    ), advanced as (
      update projection_state set last_ended = greatest(last_ended, ${no}),
        unarchived_events = unarchived_events + ${archived === undefined ? sql`counted.events` : sql.lit(0)}
      from (select sum(event_count) as events from ended having count(*) > 0) counted
    ), ${archived === undefined ? sql`` : archivedBlock(dedicatedTo, archived)}
    turn as materialized (
      select pg_advisory_xact_lock(${lockKey(POSITIONS_LOCK)}) from (select count(*) from ended) found
    ), recorded as (
      insert into projections (project_id, spans, at_ms)
      select project_id, case when (select count(*) from unnest(spans)) <= ${PROJECTION_SPANS_MAX} then spans
        else int8multirange(range_merge(spans)) end, ${nowMs}::bigint
      from turn cross join (
        select project_id, range_agg(changed_spans) as spans
        from ended cross join lateral unnest(project_ids, touched) as project (project_id, changed_spans)
        where not isempty(changed_spans)
        group by project_id
      ) changed
    ), forgotten as (
      delete from projections
      where position < (select max(position) from projections where at_ms <= ${nowMs - PROJECTIONS_KEPT_MS})
    )
    select count(*)::integer as deleted from ended
  `;
}

/** Returns the part of the statement that records the rows of the group in the archive. */
function archivedBlock(
  dedicatedTo: number | null,
  { objectKey, byteCount }: ArchivedRows,
): RawBuilder<unknown> {
  return sql`archived as (
      insert into archived_blocks
        (object_key, dedicated_to, event_count, byte_count, level, project_ids, first_days, last_day)
      select ${objectKey}::text, ${dedicatedTo}::integer, (select sum(event_count) from ended), ${byteCount}::bigint, 0,
        array_agg(project_id), array_agg(first_day), (select coalesce(max(last_day), ${LAST_DAY_UNKNOWN}) from ended)
      from (
        select project_id, min(coalesce(first_day, 0)) as first_day
        from ended cross join lateral unnest(project_ids, first_days) as project (project_id, first_day)
        group by project_id
      ) of_project
      having count(*) > 0
    ),`;
}
