import type { ExtractorConfig, RuleSetStatus } from '@tollgate/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ProjectRef } from '../../platform/http/index.js';
import type { Database, Tx } from '../../platform/postgres/index.js';

type Db = Kysely<Database> | Tx;

/** Which project's rule sets are meant. */
export type RuleSetOwner = Pick<ProjectRef, 'tenantId' | 'projectId'>;

/** One version of an extractor rule set, with what its rule set adds. Times are Unix seconds. */
export interface StoredVersion {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly version: number;
  readonly name: string | null;
  readonly effective_from: number;
  readonly config: ExtractorConfig;
  readonly created_at: number;
  readonly published_at: number | null;
  readonly archived_at: number | null;
}

/** What a draft is made of. */
export interface DraftValues {
  readonly version: number;
  readonly name: string | null;
  readonly effectiveFrom: number;
  readonly config: ExtractorConfig;
  readonly createdAt: number;
}

const COLUMNS = sql`s.id, s.tenant_id, s.project_id, v.version, v.name, v.effective_from, v.config,
  v.created_at, v.published_at, s.archived_at`;
const FROM = sql`rule_sets s join rule_set_versions v
  on v.project_id = s.project_id and v.rule_set_id = s.id`;
const STATUS = sql`case when s.archived_at is not null then 'archived'
  when v.published_at is null then 'draft' else 'published' end`;

const ownedBy = ({ tenantId, projectId }: RuleSetOwner): RawBuilder<unknown> =>
  sql`s.tenant_id = ${tenantId} and s.project_id = ${projectId} and s.kind = 'extractor'`;

export async function insertRuleSet(
  tx: Tx,
  owner: RuleSetOwner,
  ruleSetId: string,
  createdAt: number,
): Promise<void> {
  await tx
    .insertInto('rule_sets')
    .values({
      tenant_id: owner.tenantId,
      project_id: owner.projectId,
      id: ruleSetId,
      kind: 'extractor',
      extractor_rule_set_id: null,
      archived_at: null,
      created_at: createdAt,
    })
    .execute();
}

/**
 * The newest version of a rule set, which stays as it is until the transaction ends: whoever writes to a rule set
 * holds its row.
 */
export async function lockNewestVersion(
  tx: Tx,
  owner: RuleSetOwner,
  ruleSetId: string,
): Promise<StoredVersion | undefined> {
  // Locked first, on its own: the statement that reads the versions must see what the previous holder committed.
  await sql`select 1 from rule_sets s where ${ownedBy(owner)} and s.id = ${ruleSetId} for update`.execute(tx);
  return readVersion(tx, owner, ruleSetId, undefined);
}

/** A version of a rule set: the newest unless `version` names one. */
export async function readVersion(
  db: Db,
  owner: RuleSetOwner,
  ruleSetId: string,
  version: number | undefined,
): Promise<StoredVersion | undefined> {
  const { rows } = await sql<StoredVersion>`
    select ${COLUMNS} from ${FROM}
    where ${ownedBy(owner)} and s.id = ${ruleSetId}
      and ${version === undefined ? sql`true` : sql`v.version = ${version}`}
    order by v.version desc limit 1
  `.execute(db);
  return rows[0];
}

export async function insertDraft(
  tx: Tx,
  owner: RuleSetOwner,
  ruleSetId: string,
  draft: DraftValues,
): Promise<void> {
  await tx
    .insertInto('rule_set_versions')
    .values({
      tenant_id: owner.tenantId,
      project_id: owner.projectId,
      rule_set_id: ruleSetId,
      version: draft.version,
      name: draft.name,
      template_id: null,
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
  owner: RuleSetOwner,
  ruleSetId: string,
  draft: DraftValues,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('rule_set_versions')
    .set({ name: draft.name, effective_from: draft.effectiveFrom, config: JSON.stringify(draft.config) })
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('rule_set_id', '=', ruleSetId)
    .where('version', '=', draft.version)
    .where('published_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Error(`version ${draft.version} of ${ruleSetId} is no draft`);
}

export async function markPublished(
  tx: Tx,
  owner: RuleSetOwner,
  ruleSetId: string,
  version: number,
  publishedAt: number,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('rule_set_versions')
    .set({ published_at: publishedAt })
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('rule_set_id', '=', ruleSetId)
    .where('version', '=', version)
    .where('published_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Error(`version ${version} of ${ruleSetId} is no draft`);
}

export async function markArchived(
  tx: Tx,
  owner: RuleSetOwner,
  ruleSetId: string,
  archivedAt: number,
): Promise<void> {
  await tx
    .updateTable('rule_sets')
    .set({ archived_at: archivedAt })
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('id', '=', ruleSetId)
    .execute();
}

/** Tells every cache that the rule set has changed. */
export async function bumpRevision(tx: Tx, owner: RuleSetOwner, ruleSetId: string): Promise<void> {
  await tx
    .updateTable('rule_sets')
    .set((set) => ({ revision: set('revision', '+', 1) }))
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('id', '=', ruleSetId)
    .execute();
}

/** Rule sets, newest first. With a status, a rule set is shown by its newest version of that status. */
export async function listRuleSets(
  db: Db,
  owner: RuleSetOwner,
  page: { readonly limit: number; readonly offset: number; readonly status: RuleSetStatus | undefined },
): Promise<{ rows: StoredVersion[]; totalCount: number }> {
  const shown = sql`
    select distinct on (s.id) ${COLUMNS} from ${FROM}
    where ${ownedBy(owner)} and ${page.status === undefined ? sql`true` : sql`${STATUS} = ${page.status}`}
    order by s.id desc, v.version desc
  `;
  const { rows } = await sql<StoredVersion>`${shown} limit ${page.limit} offset ${page.offset}`.execute(db);
  const { rows: counted } = await sql<{
    total: number;
  }>`select count(*) as total from (${shown}) shown`.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}

export async function listVersions(
  db: Db,
  owner: RuleSetOwner,
  ruleSetId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: StoredVersion[]; totalCount: number }> {
  const found = sql`from ${FROM} where ${ownedBy(owner)} and s.id = ${ruleSetId}`;
  const { rows } = await sql<StoredVersion>`
    select ${COLUMNS} ${found} order by v.version desc limit ${page.limit} offset ${page.offset}
  `.execute(db);
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}
