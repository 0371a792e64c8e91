import type { ProjectDb } from '../../../platform/postgres/index.js';

/** Returns the names that plan rules (drafts included) or direct limits of the project have as `webhook_event`. */
export async function eventsOfRules(db: ProjectDb, names: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ name: string }>`
    select name from unnest(${names}::text[]) as name
    where exists (
      select from usage_limit_plan_rules r
      where ${db.isOwn('r')} and r.webhook_event = name
    ) or exists (
      select from direct_limits d
      where ${db.isOwn('d')} and d.webhook_event = name
    )`;
  return new Set(rows.map(({ name }) => name));
}
