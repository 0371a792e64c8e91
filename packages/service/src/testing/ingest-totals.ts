import { sql } from 'kysely';
import type { Db } from '../platform/postgres/index.js';

/** Sets the counts of each project's ingest status to the sums over its days, for tests that write the days only. */
export async function countIngested(db: Db): Promise<void> {
  await sql`
    insert into ingest_totals (tenant_id, project_id, processed_count, failed_count, duplicate_count, voided_count)
    select tenant_id, project_id, sum(processed_count), sum(failed_count), 0, sum(voided_count)
    from usage_event_totals group by 1, 2
    on conflict (project_id) do update set processed_count = excluded.processed_count,
      failed_count = excluded.failed_count, voided_count = excluded.voided_count
  `.execute(db);
}
