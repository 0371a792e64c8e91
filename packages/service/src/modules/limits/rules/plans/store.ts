import { type RawBuilder, sql } from 'kysely';
import type { ListPage, Page } from '../../../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../../../platform/postgres/index.js';
import { type RuleRow, withOwnLists } from '../rule-row.js';

/** Times are Unix seconds unless the name ends in `_ms`. */
export interface PlanRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly current_revision: number;
  readonly archived_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface PlanRuleRow extends RuleRow {
  readonly plan_version_id: string;
}

/** A version with the fields of its plan. */
export interface VersionRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly plan_id: string;
  readonly name: string;
  /** 0 for the draft. */
  readonly revision: number;
  readonly title: string;
  readonly description: string | null;
  readonly published_at_ms: number | null;
  readonly archived_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly rules: readonly PlanRuleRow[];
}

type BareVersionRow = Omit<VersionRow, 'rules'>;

export interface PlanFilter {
  readonly isArchived: boolean;
  readonly isPublished: boolean;
  readonly search: string;
}

const VERSION_COLUMNS = sql`v.tenant_id, v.project_id, v.id, v.plan_id, p.name, v.revision, v.title, v.description,
  v.published_at_ms, p.archived_at, v.created_at, v.updated_at`;
const VERSIONS = sql`usage_limit_plans p
  join usage_limit_plan_versions v on v.project_id = p.project_id and v.plan_id = p.id`;

export async function findPlan(db: ProjectDb, planId: string): Promise<PlanRow | undefined> {
  return db.selectFrom('usage_limit_plans').selectAll().where('id', '=', planId).executeTakeFirst();
}

/** Returns the plan of a version, and which version it is; undefined when no version has the id. */
export async function findPlanOfVersion(
  db: ProjectDb,
  versionId: string,
): Promise<{ readonly planId: string; readonly revision: number } | undefined> {
  const row = await db
    .selectFrom('usage_limit_plan_versions')
    .select(['plan_id', 'revision'])
    .where('id', '=', versionId)
    .executeTakeFirst();
  return row === undefined ? undefined : { planId: row.plan_id, revision: row.revision };
}

/** Returns the plan with a name, archived or not. */
export async function findPlanNamed(
  db: ProjectDb,
  name: string,
): Promise<{ readonly id: string; readonly archived_at: number | null } | undefined> {
  return db
    .selectFrom('usage_limit_plans')
    .select(['id', 'archived_at'])
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Whether a route is bound to the plan. */
export async function isBound(db: ProjectDb, planId: string): Promise<boolean> {
  const row = await db
    .selectFrom('subject_routes')
    .select('id')
    .where('usage_limit_plan_id', '=', planId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertLimitPlan(tx: ProjectTx, plan: PlanRow): Promise<void> {
  await tx.insert('usage_limit_plans', plan).execute();
}

export async function updatePlan(tx: ProjectTx, plan: PlanRow): Promise<void> {
  const { tenant_id, project_id, id, name, created_at, ...changed } = plan;
  await tx.update('usage_limit_plans', changed).where('id', '=', id).execute();
}

/** Returns one version of a plan by its revision; 0 is the draft. */
export async function findVersion(
  db: ProjectDb,
  planId: string,
  revision: number,
): Promise<VersionRow | undefined> {
  const rows = await db.rows<BareVersionRow>`
    select ${VERSION_COLUMNS} from ${VERSIONS}
    where ${db.isOwn('p')} and p.id = ${planId} and v.revision = ${revision}`;
  return (await withRules(db, rows))[0];
}

/** Replaces the draft of a plan, or adds one. */
export async function replacePlanDraft(tx: ProjectTx, draft: VersionRow): Promise<void> {
  const { name, archived_at, rules, ...version } = draft;
  await tx
    .deleteFrom('usage_limit_plan_versions')
    .where('plan_id', '=', draft.plan_id)
    .where('revision', '=', 0)
    .execute();
  await tx.insert('usage_limit_plan_versions', version).execute();
  if (rules.length === 0) return;
  const rows = rules.map((rule, position) => ({ ...withOwnLists(rule), position }));
  await tx.insert('usage_limit_plan_rules', ...rows).execute();
}

/** Makes the draft an immutable revision. */
export async function markPlanPublished(
  tx: ProjectTx,
  draft: VersionRow,
  revision: number,
  atMs: number,
): Promise<void> {
  await tx
    .update('usage_limit_plan_versions', {
      revision,
      published_at_ms: atMs,
      updated_at: Math.floor(atMs / 1_000),
    })
    .where('id', '=', draft.id)
    .where('revision', '=', 0)
    .execute();
}

/** Returns the versions of one plan: the draft, then revisions, newest first. */
export async function listPlanVersions(
  db: ProjectDb,
  planId: string,
  { limit, offset }: Page,
): Promise<ListPage<VersionRow>> {
  const found = db.part`from ${VERSIONS} where ${db.isOwn('p')} and p.id = ${planId}`;
  const rows = await db.rows<BareVersionRow>`
    select ${VERSION_COLUMNS} ${found} order by v.revision = 0 desc, v.revision desc limit ${limit} offset ${offset}`;
  return { items: await withRules(db, rows), totalCount: await count(db, found) };
}

/** Returns plans, newest first: each with its newest published version or, without one, with its draft. */
export async function listPlans(
  db: ProjectDb,
  filter: PlanFilter,
  { limit, offset }: Page,
): Promise<ListPage<VersionRow>> {
  const found = db.part`
    from ${VERSIONS} and v.revision = p.current_revision
    where ${db.isOwn('p')} and ${inView(filter)} and ${matching(filter.search)}`;
  const rows = await db.rows<BareVersionRow>`
    select ${VERSION_COLUMNS} ${found} order by p.id desc limit ${limit} offset ${offset}`;
  return { items: await withRules(db, rows), totalCount: await count(db, found) };
}

function inView({ isArchived, isPublished }: PlanFilter): RawBuilder<unknown> {
  if (isArchived) return sql`p.archived_at is not null`;
  return isPublished ? sql`p.archived_at is null and p.current_revision > 0` : sql`p.archived_at is null`;
}

/**
 * Compares letters of every script without case, which the database's own collation may not do. Nothing is a wildcard.
 */
function matching(search: string): RawBuilder<unknown> {
  if (search === '') return sql`true`;
  const shown = ['p.id', 'p.name', 'v.title', `coalesce(v.description, '')`];
  const tests = shown.map(
    (column) =>
      sql`strpos(lower(${sql.raw(column)} collate "und-x-icu"), lower(${search} collate "und-x-icu")) > 0`,
  );
  return sql`(${sql.join(tests, sql` or `)})`;
}

async function count(db: ProjectDb, found: RawBuilder<unknown>): Promise<number> {
  const row = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return row?.total ?? 0;
}

async function withRules(db: ProjectDb, versions: readonly BareVersionRow[]): Promise<VersionRow[]> {
  const rows = await db.rows<PlanRuleRow>`
    select id, plan_version_id, limit_key, measure, of, selector_type, selector_value, selector_values, dimension_key,
      dimension_value, dimension_values, currency,
      period, limit_amount, action, webhook_event, notify_at, rule_no, created_at, updated_at
    from usage_limit_plan_rules
    where ${db.isOwn()} and plan_version_id = any(${versions.map(({ id }) => id)})
    order by position`;
  return versions.map((version) => ({
    ...version,
    rules: rows.filter((rule) => rule.plan_version_id === version.id),
  }));
}
