import type { ProjectDb } from '../../platform/postgres/index.js';

/** Number of the newest versions of an extractor rule set that are read: draft, active version, recent ones. */
const VERSIONS_LOOKED_AT_MAX = 10;

/** Upper bound of the default subject types among which a misspelt one is looked for. */
const DEFAULT_TYPES_MAX = 500;

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

/** Whether an extractor rule set of the project gives subjects this type by default. */
export async function isDefaultSubjectType(db: ProjectDb, subjectType: string): Promise<boolean> {
  const row = await db.row<{ known: boolean }>`
    select exists (${defaultTypes(db)} and v.config -> 'subject' ->> 'default_type' = ${subjectType}) as known
  `;
  return row?.known ?? false;
}

/** Returns the types that extractor rule sets of the project give subjects by default, up to a bound. */
export async function defaultSubjectTypes(db: ProjectDb): Promise<readonly string[]> {
  const rows = await db.rows<{ type: string }>`
    select distinct type from (${defaultTypes(db)}) t where type is not null order by type limit ${DEFAULT_TYPES_MAX}
  `;
  return rows.map(({ type }) => type);
}

function defaultTypes(db: ProjectDb) {
  return db.part`
    select v.config -> 'subject' ->> 'default_type' as type from rule_sets s
    cross join lateral (
      select config from rule_set_versions v
      where v.project_id = s.project_id and v.rule_set_id = s.id
      order by v.version desc limit ${VERSIONS_LOOKED_AT_MAX}
    ) v
    where ${db.isOwn('s')} and s.kind = 'extractor'`;
}
