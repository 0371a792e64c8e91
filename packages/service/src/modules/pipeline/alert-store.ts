import { sql } from 'kysely';
import type { Tx } from '../../platform/postgres/index.js';

/** The key of an alert, which is sent at most once. */
export interface AlertKey {
  readonly tenantId: string;
  readonly projectId: string;
  readonly type: string;
  /** A metric or a failure code. */
  readonly name: string;
}

/** For how long rows of earlier hours are kept, so that a worker whose clock is behind still finds its own. */
const KEPT_S = 86_400;

/**
 * Marks alerts as sent in this hour and returns those that were not sent before, at most `perHourMax` for each project
 * and type. When two workers have the same alert, one waits for the other here, and only one gets it.
 *
 * @param hour Unix seconds of its start
 * @param keys sorted by project, type and name: every worker locks rows in the same order
 */
export async function claimAlerts(
  tx: Tx,
  hour: number,
  keys: readonly AlertKey[],
  perHourMax: number,
): Promise<Set<string>> {
  const projectIds = keys.map(({ projectId }) => projectId);
  await sql`
    delete from usage_alerts where (project_id, hour, type, name) in (
      select project_id, hour, type, name from usage_alerts
      where project_id = any(${projectIds}::text[]) and hour < ${hour - KEPT_S} for update skip locked
    )
  `.execute(tx);
  const { rows } = await sql<{ projectId: string; type: string; name: string }>`
    with wanted as (
      select w.*, row_number() over (partition by w.project_id, w.type order by w.position) as place
      from unnest(
        ${keys.map(({ tenantId }) => tenantId)}::text[], ${projectIds}::text[],
        ${keys.map(({ type }) => type)}::text[], ${keys.map(({ name }) => name)}::text[]
      ) with ordinality as w (tenant_id, project_id, type, name, position)
      where not exists (
        select from usage_alerts a
        where a.project_id = w.project_id and a.hour = ${hour} and a.type = w.type and a.name = w.name
      )
    )
    insert into usage_alerts (tenant_id, project_id, hour, type, name)
    select w.tenant_id, w.project_id, ${hour}, w.type, w.name from wanted w
    where w.place + (
      select count(*) from usage_alerts a
      where a.project_id = w.project_id and a.hour = ${hour} and a.type = w.type
    ) <= ${perHourMax}
    order by w.position
    on conflict do nothing
    returning project_id as "projectId", type, name
  `.execute(tx);
  return new Set(rows.map(alertKey));
}

/** An id, type, metric or code contains no line break, so the key is unambiguous. */
export function alertKey({ projectId, type, name }: Omit<AlertKey, 'tenantId'>): string {
  return `${projectId}\n${type}\n${name}`;
}
