import type { PricingConfig } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Db, ProjectDb } from '../../platform/postgres/index.js';
import type { RuleSetRef, RulesRead } from './catalog.js';
import type { Publication } from './publications.js';
import type { PricingVersion, RuleConfigs, VersionConfig } from './rule-version.js';
import type { ActiveVersions, PublishedPricing, PublishedVersion } from './timeline.js';

/** Returns which of these rule sets of the project accept events now; rule sets that do not exist are left out. */
export async function readPublications(
  db: ProjectDb,
  ruleSetIds: readonly string[],
): Promise<Map<string, Publication>> {
  const rows = await db.rows<{ id: string; published: boolean }>`
    select id, archived_at is null and exists (
      select from rule_set_versions v
      where v.project_id = s.project_id and v.rule_set_id = s.id and v.published_at is not null
    ) as published
    from rule_sets s
    where ${db.isOwn()} and kind = 'extractor' and id = any(${ruleSetIds})`;
  return new Map(rows.map(({ id, published }) => [id, published ? 'published' : 'unpublished']));
}

/** Returns the revision of each extractor rule set that exists. */
export async function readRevisions(
  db: Db,
  refs: readonly RuleSetRef[],
): Promise<(RuleSetRef & { readonly revision: number })[]> {
  const { rows } = await sql<RuleSetRef & { revision: number }>`
    select project_id as "projectId", id as "ruleSetId", revision from rule_sets
    where kind = 'extractor'
      and (project_id, id) in (select * from unnest(${projectsOf(refs)}::text[], ${idsOf(refs)}::text[]))
  `.execute(db);
  return rows;
}

interface PublishedRow extends PublishedPricing {
  readonly projectId: string;
  readonly extractorRuleSetId: string;
  readonly kind: 'extractor' | 'pricing';
}

/**
 * Returns every published version of the extractor rule sets and of the pricing rule sets bound to them, at one moment.
 * An archived rule set still rates what was accepted before.
 */
export async function readPublishedRules(db: Db, refs: readonly RuleSetRef[]): Promise<RulesRead[]> {
  const { rows } = await sql<PublishedRow>`
    select s.project_id as "projectId", asked.id as "extractorRuleSetId", s.id as "ruleSetId", s.kind, s.purpose,
      s.archived_at as "archivedAt", v.version, v.effective_from as "effectiveFrom"
    from unnest(${projectsOf(refs)}::text[], ${idsOf(refs)}::text[]) as asked (project_id, id)
    join rule_sets s on s.project_id = asked.project_id
      and ((s.id = asked.id and s.kind = 'extractor') or s.extractor_rule_set_id = asked.id)
    join rule_set_versions v on v.project_id = s.project_id and v.rule_set_id = s.id
    where v.published_at is not null
  `.execute(db);
  const rulesByKey = new Map<string, RulesBuilt>();
  for (const row of rows) {
    const { projectId, extractorRuleSetId: ruleSetId } = row;
    const key = JSON.stringify([projectId, ruleSetId]);
    const rules = rulesByKey.get(key) ?? {
      projectId,
      ruleSetId,
      extractors: [],
      pricings: [],
    };
    rulesByKey.set(key, rules);
    if (row.kind === 'extractor') rules.extractors.push(row);
    else rules.pricings.push(row);
  }
  return [...rulesByKey.values()];
}

interface RulesBuilt extends RuleSetRef {
  readonly extractors: PublishedVersion[];
  readonly pricings: PublishedPricing[];
}

/** @throws Error when one of the versions does not exist */
export async function readConfigs(
  db: Db,
  projectId: string,
  { extractor, pricings }: ActiveVersions,
): Promise<RuleConfigs> {
  const configOf = await readVersions(db, projectId, [extractor, ...pricings]);
  return { extractor: configOf(extractor), pricings: pricings.map(withPurpose(configOf)) };
}

/** @throws Error when one of the versions does not exist */
export async function readPricingConfigs(
  db: Db,
  projectId: string,
  pricings: ActiveVersions['pricings'],
): Promise<PricingVersion[]> {
  const configOf = await readVersions(db, projectId, pricings);
  return pricings.map(withPurpose(configOf));
}

function withPurpose(configOf: (version: PublishedVersion) => VersionConfig<PricingConfig>) {
  return (pricing: PublishedPricing): PricingVersion => ({ ...configOf(pricing), purpose: pricing.purpose });
}

/** Returns the texts of the versions. */
async function readVersions(
  db: Db,
  projectId: string,
  versions: readonly PublishedVersion[],
): Promise<<Config>(version: PublishedVersion) => VersionConfig<Config>> {
  const { rows } = await sql<VersionConfig<object>>`
    select rule_set_id as "ruleSetId", version, octet_length(config::text) as bytes, config
    from rule_set_versions
    where project_id = ${projectId} and (rule_set_id, version) in (
      select * from unnest(
        ${versions.map(({ ruleSetId }) => ruleSetId)}::text[], ${versions.map(({ version }) => version)}::int[]
      )
    )
  `.execute(db);
  return <Config>({ ruleSetId, version }: PublishedVersion) => {
    const found = rows.find((row) => row.ruleSetId === ruleSetId && row.version === version);
    if (found === undefined) throw new Error(`version ${version} of ${ruleSetId} is gone`);
    return found as VersionConfig<Config>;
  };
}

const projectsOf = (refs: readonly RuleSetRef[]) => refs.map((ref) => ref.projectId);
const idsOf = (refs: readonly RuleSetRef[]) => refs.map((ref) => ref.ruleSetId);
