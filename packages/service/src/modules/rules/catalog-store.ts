import type { ExtractorConfig } from '@tollgate/contract';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../platform/postgres/index.js';
import type { Publication } from './publications.js';
import type { RuleSetOwner } from './store.js';

/** A rule set as events name it; ids of projects are unique over all tenants. */
export interface RuleSetRef {
  readonly projectId: string;
  readonly ruleSetId: string;
}

export interface PublishedVersion extends RuleSetRef {
  readonly version: number;
  /** Unix seconds. */
  readonly effectiveFrom: number;
  readonly config: ExtractorConfig;
}

/** Which of these rule sets of the project take events now; those that do not exist are left out. */
export async function readPublications(
  db: Kysely<Database>,
  { tenantId, projectId }: RuleSetOwner,
  ruleSetIds: readonly string[],
): Promise<Map<string, Publication>> {
  const { rows } = await sql<{ id: string; published: boolean }>`
    select id, archived_at is null and exists (
      select from rule_set_versions v
      where v.project_id = s.project_id and v.rule_set_id = s.id and v.published_at is not null
    ) as published
    from rule_sets s
    where tenant_id = ${tenantId} and project_id = ${projectId} and kind = 'extractor'
      and id = any(${ruleSetIds})
  `.execute(db);
  return new Map(rows.map(({ id, published }) => [id, published ? 'published' : 'unpublished']));
}

/** The revision of each rule set that exists. */
export async function readRevisions(
  db: Kysely<Database>,
  refs: readonly RuleSetRef[],
): Promise<(RuleSetRef & { readonly revision: number })[]> {
  const { rows } = await sql<RuleSetRef & { revision: number }>`
    select project_id as "projectId", id as "ruleSetId", revision from rule_sets
    where (project_id, id) in (select * from unnest(${projectsOf(refs)}::text[], ${idsOf(refs)}::text[]))
  `.execute(db);
  return rows;
}

/** Every published version of the rule sets; an archived one still rates what was accepted before. */
export async function readPublishedVersions(
  db: Kysely<Database>,
  refs: readonly RuleSetRef[],
): Promise<PublishedVersion[]> {
  const { rows } = await sql<PublishedVersion>`
    select project_id as "projectId", rule_set_id as "ruleSetId", version,
      effective_from as "effectiveFrom", config
    from rule_set_versions
    where published_at is not null
      and (project_id, rule_set_id) in
        (select * from unnest(${projectsOf(refs)}::text[], ${idsOf(refs)}::text[]))
  `.execute(db);
  return rows;
}

const projectsOf = (refs: readonly RuleSetRef[]) => refs.map((ref) => ref.projectId);
const idsOf = (refs: readonly RuleSetRef[]) => refs.map((ref) => ref.ruleSetId);
