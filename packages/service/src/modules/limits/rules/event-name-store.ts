import type { ProjectDb } from '../../../platform/postgres/index.js';

/** Upper bound of the other names that are returned beside those asked for. */
const OTHER_NAMES_MAX = 500;

/**
 * Returns the names that plan rules (drafts included) or direct limits of the project have as `webhook_event`: all that
 * are asked for, and some others, among which a misspelt name can be looked for.
 */
export async function eventsOfRules(db: ProjectDb, names: readonly string[]): Promise<readonly string[]> {
  const rows = await db.rows<{ name: string }>`
    select webhook_event as name from (
      select r.webhook_event from usage_limit_plan_rules r where ${db.isOwn('r')} and r.webhook_event is not null
      union
      select d.webhook_event from direct_limits d where ${db.isOwn('d')} and d.webhook_event is not null
    ) e
    order by webhook_event = any(${names}::text[]) desc, webhook_event
    limit ${names.length + OTHER_NAMES_MAX}`;
  return rows.map(({ name }) => name);
}
