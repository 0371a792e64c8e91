import type { PublicationStatus } from '@tollgate/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Page } from '../../kernel/page.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { Db, Tx } from '../../platform/postgres/index.js';

/** Which project's rule sets are meant. */
export type RuleSetOwner = Pick<ProjectRef, 'tenantId' | 'projectId'>;

/** Which rule sets are meant: those of one kind in a project. To it, an id of the other kind does not exist. */
export interface RuleSetScope extends RuleSetOwner {
  readonly kind: 'extractor' | 'pricing';
}

/** One version of a rule set, with what its rule set adds. Times are Unix seconds. */
export interface StoredVersion<Config> {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  /** The extractor rule set that a pricing rule set is bound to; null for an extractor rule set. */
  readonly extractor_rule_set_id: string | null;
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
}

const COLUMNS = sql`s.id, s.tenant_id, s.project_id, s.extractor_rule_set_id, v.version, v.name, v.template_id,
  v.effective_from, v.config, v.created_at, v.published_at, s.archived_at`;
const FROM = sql`rule_sets s join rule_set_versions v on v.project_id = s.project_id and v.rule_set_id = s.id`;
const STATUS = sql`case when s.archived_at is not null then 'archived'
  when v.published_at is null then 'draft' else 'published' end`;

const within = ({ tenantId, projectId, kind }: RuleSetScope): RawBuilder<unknown> =>
  sql`s.tenant_id = ${tenantId} and s.project_id = ${projectId} and s.kind = ${kind}`;

export async function insertRuleSet(
  tx: Tx,
  scope: RuleSetScope,
  ruleSet: {
    readonly id: string;
    readonly extractorRuleSetId: string | null;
    readonly createdAt: number;
  },
): Promise<void> {
  await tx
    .insertInto('rule_sets')
    .values({
      tenant_id: scope.tenantId,
      project_id: scope.projectId,
      id: ruleSet.id,
      kind: scope.kind,
      extractor_rule_set_id: ruleSet.extractorRuleSetId,
      archived_at: null,
      created_at: ruleSet.createdAt,
    })
    .execute();
}

/**
 * Returns the newest version of a rule set and locks it until the transaction ends: each writer of a rule set locks the
 * row of the extractor rule set that it is, or is bound to. That is the only locked row, so writers cannot deadlock.
 */
export async function lockNewestVersion<Config>(
  tx: Tx,
  scope: RuleSetScope,
  ruleSetId: string,
): Promise<StoredVersion<Config> | undefined> {
  // Locked first, on its own: the statement that reads the versions must see what the previous holder committed.
  await sql`
    select 1 from rule_sets
    where project_id = ${scope.projectId} and id = (
      select coalesce(s.extractor_rule_set_id, s.id) from rule_sets s where ${within(scope)} and s.id = ${ruleSetId}
    )
    for update
  `.execute(tx);
  return readVersion(tx, scope, ruleSetId, undefined);
}

/** A version of a rule set: the newest unless `version` names one. */
export async function readVersion<Config>(
  db: Db,
  scope: RuleSetScope,
  ruleSetId: string,
  version: number | undefined,
): Promise<StoredVersion<Config> | undefined> {
  const { rows } = await sql<StoredVersion<Config>>`
    select ${COLUMNS} from ${FROM}
    where ${within(scope)} and s.id = ${ruleSetId}
      and ${version === undefined ? sql`true` : sql`v.version = ${version}`}
    order by v.version desc limit 1
  `.execute(db);
  return rows[0];
}

export async function insertDraft(
  tx: Tx,
  scope: RuleSetScope,
  ruleSetId: string,
  draft: DraftValues<object>,
): Promise<void> {
  await tx
    .insertInto('rule_set_versions')
    .values({
      tenant_id: scope.tenantId,
      project_id: scope.projectId,
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

/** Replaces a draft; a published version is never touched. */
export async function replaceDraft(
  tx: Tx,
  scope: RuleSetScope,
  ruleSetId: string,
  draft: DraftValues<object>,
): Promise<void> {
  const { numUpdatedRows } = await updateDraft(tx, scope, ruleSetId, draft.version)
    .set({
      name: draft.name,
      template_id: draft.templateId,
      effective_from: draft.effectiveFrom,
      config: JSON.stringify(draft.config),
    })
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Error(`version ${draft.version} of ${ruleSetId} is no draft`);
}

export async function markPublished(
  tx: Tx,
  scope: RuleSetScope,
  ruleSetId: string,
  version: number,
  publishedAt: number,
): Promise<void> {
  const { numUpdatedRows } = await updateDraft(tx, scope, ruleSetId, version)
    .set({ published_at: publishedAt })
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Error(`version ${version} of ${ruleSetId} is no draft`);
}

const updateDraft = (tx: Tx, scope: RuleSetScope, ruleSetId: string, version: number) =>
  tx
    .updateTable('rule_set_versions')
    .where('tenant_id', '=', scope.tenantId)
    .where('project_id', '=', scope.projectId)
    .where('rule_set_id', '=', ruleSetId)
    .where('version', '=', version)
    .where('published_at', 'is', null);

export async function markArchived(
  tx: Tx,
  scope: RuleSetScope,
  ruleSetId: string,
  archivedAt: number,
): Promise<void> {
  await updateRuleSet(tx, scope, ruleSetId).set({ archived_at: archivedAt }).execute();
}

/** Tells every cache that the extractor rule set, or a pricing rule set bound to it, has changed. */
export async function bumpRevision(tx: Tx, owner: RuleSetOwner, extractorRuleSetId: string): Promise<void> {
  await updateRuleSet(tx, owner, extractorRuleSetId)
    .set((set) => ({ revision: set('revision', '+', 1) }))
    .execute();
}

const updateRuleSet = (tx: Tx, owner: RuleSetOwner, ruleSetId: string) =>
  tx
    .updateTable('rule_sets')
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('id', '=', ruleSetId);

/** The pricing rule sets bound to an extractor rule set that were published and are not archived, oldest first. */
export async function listPricing(
  tx: Tx,
  owner: RuleSetOwner,
  extractorRuleSetId: string,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('rule_sets')
    .select('id')
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('extractor_rule_set_id', '=', extractorRuleSetId)
    .where('archived_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('rule_set_versions')
          .select('version')
          .whereRef('rule_set_versions.project_id', '=', 'rule_sets.project_id')
          .whereRef('rule_set_versions.rule_set_id', '=', 'rule_sets.id')
          .where('published_at', 'is not', null),
      ),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Rule sets, newest first. With a status, a rule set is shown by its newest version of that status. */
export async function listRuleSets<Config>(
  db: Db,
  scope: RuleSetScope,
  { limit, offset, status, extractorRuleSetId }: Page & ListFilter,
): Promise<{ rows: StoredVersion<Config>[]; totalCount: number }> {
  const shown = sql`
    select distinct on (s.id) ${COLUMNS} from ${FROM}
    where ${within(scope)} and ${status === undefined ? sql`true` : sql`${STATUS} = ${status}`}
      and ${extractorRuleSetId === undefined ? sql`true` : sql`s.extractor_rule_set_id = ${extractorRuleSetId}`}
    order by s.id desc, v.version desc
  `;
  const page = sql<StoredVersion<Config>>`${shown} limit ${limit} offset ${offset}`;
  const { rows } = await page.execute(db);
  const count = sql<{ total: number }>`select count(*) as total from (${shown}) shown`;
  const { rows: counted } = await count.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}

/** Versions of one rule set, newest first, none left out. */
export async function listVersions<Config>(
  db: Db,
  scope: RuleSetScope,
  ruleSetId: string,
  { limit, offset }: Page,
): Promise<{ rows: StoredVersion<Config>[]; totalCount: number }> {
  const found = sql`from ${FROM} where ${within(scope)} and s.id = ${ruleSetId}`;
  const page = sql<StoredVersion<Config>>`
    select ${COLUMNS} ${found} order by v.version desc limit ${limit} offset ${offset}`;
  const { rows } = await page.execute(db);
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}
