import type { ProjectDb } from '../../platform/postgres/index.js';

/** Number of the newest versions of an extractor rule set that are read: draft, active version, recent ones. */
const VERSIONS_LOOKED_AT_MAX = 10;

/** Returns the metrics of the charge items that an extractor rule set makes. */
export async function extractedMetrics(
  db: ProjectDb,
  extractorRuleSetId: string,
): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ metric: string }>`
    select distinct item ->> 'metric' as metric
    from (
      select config from rule_set_versions
      where ${db.isOwn()} and rule_set_id = ${extractorRuleSetId}
      order by version desc limit ${VERSIONS_LOOKED_AT_MAX}
    ) v, json_array_elements(coalesce(v.config -> 'charge_item_extractors', '[]')) as item
  `;
  return new Set(rows.map(({ metric }) => metric));
}

/** Whether an extractor rule set of the project gives subjects this type by default. */
export async function isDefaultSubjectType(db: ProjectDb, subjectType: string): Promise<boolean> {
  const row = await db.row<{ known: boolean }>`
    select exists (
      select from rule_sets s
      cross join lateral (
        select config from rule_set_versions v
        where v.project_id = s.project_id and v.rule_set_id = s.id
        order by v.version desc limit ${VERSIONS_LOOKED_AT_MAX}
      ) v
      where ${db.isOwn('s')} and s.kind = 'extractor'
        and v.config -> 'subject' ->> 'default_type' = ${subjectType}
    ) as known
  `;
  return row?.known ?? false;
}
