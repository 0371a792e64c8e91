import type { PricingPurpose, PublicationStatus } from '@tollgate/contract';
import { type RawBuilder, sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

/** The kind of the rule sets that a function serves; an id of the other kind is not found. */
export type RuleSetKindName = 'extractor' | 'pricing';

/** One version of a rule set, with the fields of its rule set. Times are Unix seconds. */
export interface StoredVersion<Config> {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  /** The extractor rule set that a pricing rule set is bound to; null for an extractor rule set. */
  readonly extractor_rule_set_id: string | null;
  /** Says what the rules of a pricing rule set give; null for an extractor rule set. */
  readonly purpose: PricingPurpose | null;
  readonly version: number;
  readonly name: string | null;
  readonly template_id: string | null;
  readonly effective_from: number;
  readonly config: Config;
  readonly created_at: number;
  readonly published_at: number | null;
  readonly archived_at: number | null;
}

/** The values of a draft. */
export interface DraftValues<Config> {
  readonly version: number;
  readonly name: string | null;
  readonly templateId: string | null;
  readonly effectiveFrom: number;
  readonly config: Config;
  readonly createdAt: number;
}

export interface ListFilter {
  readonly status: PublicationStatus | undefined;
  readonly extractorRuleSetId: string | undefined;
  readonly purpose: PricingPurpose | undefined;
}

const COLUMNS = sql`s.id, s.tenant_id, s.project_id, s.extractor_rule_set_id,
  case when s.kind = 'pricing' then s.purpose end as purpose, v.version, v.name, v.template_id,
  v.effective_from, v.config, v.created_at, v.published_at, s.archived_at`;
const FROM = sql`rule_sets s join rule_set_versions v on v.project_id = s.project_id and v.rule_set_id = s.id`;
const STATUS = sql`case when s.archived_at is not null then 'archived'
  when v.published_at is null then 'draft' else 'published' end`;

const isKind = (db: ProjectDb, kind: RuleSetKindName): RawBuilder<unknown> =>
  db.part`${db.isOwn('s')} and s.kind = ${kind}`;

export async function insertRuleSet(
  tx: ProjectTx,
  ruleSet: {
    readonly id: string;
    readonly kind: RuleSetKindName;
    readonly extractorRuleSetId: string | null;
    readonly purpose: PricingPurpose;
    readonly createdAt: number;
  },
): Promise<void> {
  const { id, kind, extractorRuleSetId, purpose, createdAt } = ruleSet;
  await tx
    .insert('rule_sets', {
      id,
      kind,
      extractor_rule_set_id: extractorRuleSetId,
      purpose,
      archived_at: null,
      created_at: createdAt,
    })
    .execute();
}

/**
 * Returns the newest version of a rule set and locks it until the transaction ends: each writer of a rule set locks the
 * row of the extractor rule set that it is, or is bound to. That is the only locked row, so writers cannot deadlock.
 */
export async function lockNewestVersion<Config>(
  tx: ProjectTx,
  kind: RuleSetKindName,
  ruleSetId: string,
): Promise<StoredVersion<Config> | undefined> {
  // Locked first, on its own: the statement that reads the versions must see what the previous holder committed.
  await tx.rows`
    select 1 from rule_sets
    where ${tx.isOwn()} and id = (
      select coalesce(s.extractor_rule_set_id, s.id) from rule_sets s where ${isKind(tx, kind)} and s.id = ${ruleSetId}
    )
    for update`;
  return readVersion(tx, kind, ruleSetId, undefined);
}

/** Returns a version of a rule set: the newest unless `version` names one. */
export async function readVersion<Config>(
  db: ProjectDb,
  kind: RuleSetKindName,
  ruleSetId: string,
  version: number | undefined,
): Promise<StoredVersion<Config> | undefined> {
  return db.row<StoredVersion<Config>>`
    select ${COLUMNS} from ${FROM}
    where ${isKind(db, kind)} and s.id = ${ruleSetId}
      and ${version === undefined ? sql`true` : sql`v.version = ${version}`}
    order by v.version desc limit 1`;
}

export async function insertDraft(
  tx: ProjectTx,
  ruleSetId: string,
  draft: DraftValues<object>,
): Promise<void> {
  await tx
    .insert('rule_set_versions', {
      rule_set_id: ruleSetId,
      version: draft.version,
      name: draft.name,
      template_id: draft.templateId,
      effective_from: draft.effectiveFrom,
      config: JSON.stringify(draft.config),
      created_at: draft.createdAt,
      published_at: null,
    })
    .execute();
}

/** Replaces a draft; a published version is never changed. */
export async function replaceDraft(
  tx: ProjectTx,
  ruleSetId: string,
  draft: DraftValues<object>,
): Promise<void> {
  await updateDraft(tx, ruleSetId, draft.version, {
    name: draft.name,
    template_id: draft.templateId,
    effective_from: draft.effectiveFrom,
    config: JSON.stringify(draft.config),
  });
}

export async function markPublished(
  tx: ProjectTx,
  ruleSetId: string,
  version: number,
  publishedAt: number,
): Promise<void> {
  await updateDraft(tx, ruleSetId, version, { published_at: publishedAt });
}

/** @throws Error when the version is not a draft */
async function updateDraft(
  tx: ProjectTx,
  ruleSetId: string,
  version: number,
  values: Parameters<typeof tx.update<'rule_set_versions'>>[1],
): Promise<void> {
  const { numUpdatedRows } = await tx
    .update('rule_set_versions', values)
    .where('rule_set_id', '=', ruleSetId)
    .where('version', '=', version)
    .where('published_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Error(`version ${version} of ${ruleSetId} is not a draft`);
}

export async function markArchived(tx: ProjectTx, ruleSetId: string, archivedAt: number): Promise<void> {
  await tx.update('rule_sets', { archived_at: archivedAt }).where('id', '=', ruleSetId).execute();
}

/**
 * Advances the revision by which caches notice that the extractor rule set, or a pricing rule set bound to it, has
 * changed.
 */
export async function bumpRevision(tx: ProjectTx, extractorRuleSetId: string): Promise<void> {
  await tx.change`update rule_sets set revision = revision + 1 where ${tx.isOwn()} and id = ${extractorRuleSetId}`;
}

/** Returns the published pricing rule sets bound to an extractor rule set that are not archived, oldest first. */
export async function listPricing(tx: ProjectTx, extractorRuleSetId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>`
    select s.id from rule_sets s
    where ${tx.isOwn('s')} and s.extractor_rule_set_id = ${extractorRuleSetId} and s.archived_at is null
      and exists (
        select from rule_set_versions v
        where v.project_id = s.project_id and v.rule_set_id = s.id and v.published_at is not null
      )
    order by s.id`;
  return rows.map(({ id }) => id);
}

/** Returns rule sets, newest first. With a status, a rule set is shown by its newest version of that status. */
export async function listRuleSets<Config>(
  db: ProjectDb,
  kind: RuleSetKindName,
  { limit, offset, status, extractorRuleSetId, purpose }: Page & ListFilter,
): Promise<ListPage<StoredVersion<Config>>> {
  const shown = db.part`
    select distinct on (s.id) ${COLUMNS} from ${FROM}
    where ${isKind(db, kind)} and ${status === undefined ? sql`true` : sql`${STATUS} = ${status}`}
      and ${extractorRuleSetId === undefined ? sql`true` : sql`s.extractor_rule_set_id = ${extractorRuleSetId}`}
      and ${purpose === undefined ? sql`true` : sql`s.purpose = ${purpose}`}
    order by s.id desc, v.version desc`;
  const items = await db.rows<StoredVersion<Config>>`${shown} limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total from (${shown}) shown`;
  return { items, totalCount: counted?.total ?? 0 };
}

/** Returns all versions of one rule set, newest first. */
export async function listVersions<Config>(
  db: ProjectDb,
  kind: RuleSetKindName,
  ruleSetId: string,
  { limit, offset }: Page,
): Promise<ListPage<StoredVersion<Config>>> {
  const found = db.part`from ${FROM} where ${isKind(db, kind)} and s.id = ${ruleSetId}`;
  const items = await db.rows<StoredVersion<Config>>`
    select ${COLUMNS} ${found} order by v.version desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items, totalCount: counted?.total ?? 0 };
}
