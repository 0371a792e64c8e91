import type { ProjectDb } from '../../platform/postgres/index.js';

/** Number of the newest versions of an extractor rule set that are read: draft, active version, recent ones. */
const VERSIONS_LOOKED_AT_MAX = 10;

/** Upper bound of the subject types that are returned beside the one that is asked for. */
const OTHER_TYPES_MAX = 500;

/** The names that an extractor rule set gives to usage. */
export interface ExtractedNames {
  /** The metrics of its charge items. */
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
}

const NO_NAMES: ExtractedNames = { metrics: [], dimensions: [] };

export async function extractedNames(db: ProjectDb, extractorRuleSetId: string): Promise<ExtractedNames> {
  const row = await db.row<ExtractedNames>`
    with v as (
      select config from rule_set_versions
      where ${db.isOwn()} and rule_set_id = ${extractorRuleSetId}
      order by version desc limit ${VERSIONS_LOOKED_AT_MAX}
    )
    select array(
      select distinct item ->> 'metric'
      from v, json_array_elements(coalesce(v.config -> 'charge_item_extractors', '[]')) as item
    ) as metrics, array(
      select distinct item ->> 'name' from v, json_array_elements(coalesce(v.config -> 'dimensions', '[]')) as item
    ) as dimensions
  `;
  return row ?? NO_NAMES;
}

/**
 * Returns the subject types that extractor rule sets of the project set by default: the given one, if it is among them,
 * and some others, among which a misspelt type can be looked for.
 */
export async function defaultSubjectTypes(db: ProjectDb, subjectType: string): Promise<readonly string[]> {
  const rows = await db.rows<{ type: string }>`
    select type from (
      select distinct v.config -> 'subject' ->> 'default_type' as type from rule_sets s
      cross join lateral (
        select config from rule_set_versions v
        where v.project_id = s.project_id and v.rule_set_id = s.id
        order by v.version desc limit ${VERSIONS_LOOKED_AT_MAX}
      ) v
      where ${db.isOwn('s')} and s.kind = 'extractor'
    ) t
    where type is not null
    order by type = ${subjectType} desc, type
    limit ${1 + OTHER_TYPES_MAX}
  `;
  return rows.map(({ type }) => type);
}
