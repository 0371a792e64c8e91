import type { ApiKey, Permission, Project, ProjectKind, Tenant } from '@tollgate/contract';
import type { ListPage, Page } from '../../kernel/page.js';
import type { KeyPrincipal } from '../../kernel/principal.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { Postgres, TenantDb, TenantTx, Tx } from '../../platform/postgres/index.js';
import type { StoredKey } from './authenticator.js';

type Reader = Pick<Postgres, 'db'>;

const TENANT_COLUMNS = ['id', 'name', 'created_at'] as const;
const PROJECT_COLUMNS = ['id', 'tenant_id', 'name', 'kind', 'storage', 'created_at'] as const;
const KEY_COLUMNS = ['id', 'name', 'permissions', 'project_id', 'expires_at', 'created_at'] as const;

/** Tenants that this installation does not serve; an installation that was never a cell has none. */
function unservedTenants(db: Reader['db']) {
  return db.selectFrom('unserved_tenants').select('unserved_tenants.tenant_id');
}

/** Which projects a principal can see: those of one tenant, one project, or all. */
export interface VisibleProjects {
  readonly tenantId?: string | undefined;
  readonly projectId?: string | undefined;
}

export interface NewKey extends ApiKey {
  readonly keyHash: Buffer;
}

export async function insertTenant(tx: Tx, tenant: Tenant): Promise<void> {
  await tx.insertInto('tenants').values(tenant).execute();
}

/** Returns the project's number. */
export async function insertProject(tx: Tx, project: Project): Promise<number> {
  const { no } = await tx.insertInto('projects').values(project).returning('no').executeTakeFirstOrThrow();
  return no;
}

export async function insertApiKey(tx: TenantTx, { keyHash, ...key }: NewKey): Promise<void> {
  const row = { ...key, permissions: [...key.permissions], key_hash: keyHash };
  await tx.insert('api_keys', row).execute();
}

/** Revokes a key for ever; returns false when the tenant has no such key, or it is revoked already. */
export async function revokeKey(tx: TenantTx, keyId: string, atS: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .update('api_keys', { revoked_at: atS })
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export async function findTenant({ db }: Reader, tenantId: string): Promise<Tenant | undefined> {
  return db.selectFrom('tenants').select(TENANT_COLUMNS).where('id', '=', tenantId).executeTakeFirst();
}

export async function listTenants({ db }: Reader, page: Page): Promise<ListPage<Tenant>> {
  const served = db.selectFrom('tenants').where('id', 'not in', unservedTenants(db));
  const items = await served
    .select(TENANT_COLUMNS)
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await served
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items, totalCount: total };
}

export async function listProjects(
  { db }: Reader,
  scope: VisibleProjects,
  page: Page,
): Promise<ListPage<Project>> {
  let visible = db.selectFrom('projects').where('tenant_id', 'not in', unservedTenants(db));
  if (scope.tenantId !== undefined) visible = visible.where('tenant_id', '=', scope.tenantId);
  if (scope.projectId !== undefined) visible = visible.where('id', '=', scope.projectId);
  const items = await visible
    .select(PROJECT_COLUMNS)
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await visible
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items: items as Project[], totalCount: total };
}

/** Returns how many projects of a kind the tenant has. */
export async function countProjects(db: TenantDb, kind: ProjectKind): Promise<number> {
  const { total } = await db
    .selectFrom('projects')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  return total;
}

/** Returns the keys of a tenant that are not revoked. */
export async function listKeys(db: TenantDb, page: Page): Promise<ListPage<ApiKey>> {
  const notRevoked = db.selectFrom('api_keys').where('revoked_at', 'is', null);
  const items = await notRevoked
    .select(KEY_COLUMNS)
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await notRevoked
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items: items as ApiKey[], totalCount: total };
}

/** Returns the kind of a project of this tenant; undefined when the tenant has no such project. */
export async function findProjectKind(db: TenantDb, projectId: string): Promise<ProjectKind | undefined> {
  const row = await db.selectFrom('projects').select('kind').where('id', '=', projectId).executeTakeFirst();
  return row?.kind as ProjectKind | undefined;
}

/**
 * Returns the project with this id in one tenant or, without a tenant, in any: the caller then checks who may see it. A
 * project of a tenant that is not served here is not found.
 */
export async function findProjectRef(
  { db }: Reader,
  projectId: string,
  tenantId?: string,
): Promise<ProjectRef | undefined> {
  const row = await db
    .selectFrom('projects')
    .select(['tenant_id', 'id', 'no', 'kind', 'storage'])
    .where('id', '=', projectId)
    .where('tenant_id', 'not in', unservedTenants(db))
    .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId ?? ''))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    tenantId: row.tenant_id,
    projectId: row.id,
    projectNo: row.no,
    kind: row.kind as ProjectRef['kind'],
    storage: row.storage as ProjectRef['storage'],
  };
}

/** Returns the key with this SHA-256, unless it is revoked, or its tenant is not served here. */
export async function findKey({ db }: Reader, sha256: Buffer): Promise<StoredKey | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .select(['id', 'tenant_id', 'project_id', 'permissions', 'expires_at'])
    .where('key_hash', '=', sha256)
    .where('revoked_at', 'is', null)
    .where('tenant_id', 'not in', unservedTenants(db))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const principal: KeyPrincipal = {
    kind: 'key',
    keyId: row.id,
    tenantId: row.tenant_id,
    projectId: row.project_id ?? undefined,
    permissions: row.permissions as Permission[],
  };
  return { principal, expiresAt: row.expires_at ?? undefined };
}
