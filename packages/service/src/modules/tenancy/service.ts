import type {
  AuditEntry,
  CreateApiKeyBody,
  CreatedApiKey,
  CreateProjectBody,
  CreateTenantBody,
  Project,
  ProjectKind,
  Tenant,
} from '@tollgate/contract';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, refuseInvalid } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { Principal } from '../../kernel/principal.js';
import { OneAtATime } from '../../platform/one-at-a-time.js';
import { type Postgres, TenantDb, TenantTx, transaction } from '../../platform/postgres/index.js';
import { type AuditFilter, audit, listAuditLog } from './audit-store.js';
import { keyHash } from './authenticator.js';
import type { ProjectAdmission } from './project-admission.js';
import * as store from './store.js';

/** Who requests a change, for the audit log. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
}

/**
 * Is notified of tenants, projects and keys before they exist, so that none exists that is not registered. A failed
 * creation leaves the id or hash of something that does not exist.
 */
export interface TenantRegister {
  /** @throws DomainError when no tenant may be created here */
  addTenant(tenantId: string): Promise<void>;
  addProject(tenantId: string, projectId: string): Promise<void>;
  addKey(tenantId: string, keyHash: Buffer): Promise<void>;
}

export interface TenancyServiceOptions {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly projectAdmission: ProjectAdmission;
  readonly provisionStorage: ProvisionStorage;
  /** Default: none is notified. */
  readonly register?: TenantRegister | undefined;
  /** Called after a key was revoked, so that caches of this process drop it at once. */
  readonly onKeyRevoked: () => void;
}

/** Creates a project's own tables; a repeated call changes nothing. */
export type ProvisionStorage = (projectNo: number) => Promise<void>;

/** Tenants, their projects and their keys. Every method throws `not_found` for a tenant that does not exist. */
export class TenancyService {
  readonly #postgres: Postgres;
  readonly #clock: Clock;
  readonly #projectAdmission: ProjectAdmission;
  readonly #provisionStorage: ProvisionStorage;
  readonly #register: TenantRegister | undefined;
  readonly #onKeyRevoked: () => void;
  /** Creates projects of a tenant one at a time: the plan may limit them, and creating tables takes a while. */
  readonly #creations = new OneAtATime();

  constructor(options: TenancyServiceOptions) {
    const { postgres, clock, projectAdmission, provisionStorage, register, onKeyRevoked } = options;
    this.#postgres = postgres;
    this.#clock = clock;
    this.#projectAdmission = projectAdmission;
    this.#provisionStorage = provisionStorage;
    this.#register = register;
    this.#onKeyRevoked = onKeyRevoked;
  }

  async createTenant(body: CreateTenantBody, caller: Caller): Promise<Tenant> {
    const tenant = { id: newId('ten', this.#clock), name: body.name, created_at: unixSeconds(this.#clock) };
    await this.#register?.addTenant(tenant.id);
    await transaction(this.#postgres, async (tx) => {
      await store.insertTenant(tx, tenant);
      await audit(tx, {
        ...this.#recordOf(caller, tenant.id),
        action: 'tenant.create',
        resourceType: 'tenant',
        resourceId: tenant.id,
        change: body,
      });
    });
    return tenant;
  }

  async getTenant(tenantId: string): Promise<Tenant> {
    const tenant = await store.findTenant(this.#postgres, tenantId);
    if (tenant === undefined) throw new DomainError('not_found');
    return tenant;
  }

  listTenants(page: Page): Promise<ListPage<Tenant>> {
    return store.listTenants(this.#postgres, page);
  }

  /** @throws DomainError `entitlement_limit_reached`; `server_busy` */
  async createProject(tenantId: string, body: CreateProjectBody, caller: Caller): Promise<Project> {
    await this.getTenant(tenantId);
    return this.#creations.run(tenantId, () => this.#createProject(tenantId, body, caller));
  }

  async listProjectsOfTenant(tenantId: string, page: Page): Promise<ListPage<Project>> {
    await this.getTenant(tenantId);
    return store.listProjects(this.#postgres, { tenantId }, page);
  }

  /** Returns the projects that the principal can see. */
  listVisibleProjects(principal: Principal, page: Page): Promise<ListPage<Project>> {
    const { tenantId, projectId }: store.VisibleProjects = principal.kind === 'service' ? {} : principal;
    return store.listProjects(this.#postgres, { tenantId, projectId }, page);
  }

  /** Creates a key; its text is in the response and nowhere else. */
  async createKey(tenantId: string, body: CreateApiKeyBody, caller: Caller): Promise<CreatedApiKey> {
    await this.getTenant(tenantId);
    const createdAt = unixSeconds(this.#clock);
    const projectKind = await this.#checkKey(tenantId, body, createdAt);
    const text = generateApiKey(projectKind === 'development' ? 'test' : 'live');
    const key = {
      id: newId('key', this.#clock),
      name: body.name,
      permissions: body.permissions,
      project_id: body.project_id ?? null,
      expires_at: body.expires_at ?? null,
      created_at: createdAt,
    };
    const sha256 = keyHash(text);
    await this.#register?.addKey(tenantId, sha256);
    await transaction(this.#postgres, async (tx) => {
      await store.insertApiKey(new TenantTx(tx, tenantId), { ...key, keyHash: sha256 });
      await audit(tx, {
        ...this.#recordOf(caller, tenantId),
        projectId: body.project_id,
        action: 'api_key.create',
        resourceType: 'api_key',
        resourceId: key.id,
        change: body,
      });
    });
    return { key: text, ...key };
  }

  async listKeys(tenantId: string, page: Page) {
    await this.getTenant(tenantId);
    return store.listKeys(new TenantDb(this.#postgres.db, tenantId), page);
  }

  /** Revokes a key: at once on this node, within KEY_CACHE_MS_MAX on all others. */
  async revokeKey(tenantId: string, keyId: string, caller: Caller): Promise<void> {
    const atS = unixSeconds(this.#clock);
    await transaction(this.#postgres, async (tx) => {
      const isRevoked = await store.revokeKey(new TenantTx(tx, tenantId), keyId, atS);
      if (!isRevoked) throw new DomainError('not_found');
      await audit(tx, {
        ...this.#recordOf(caller, tenantId),
        action: 'api_key.revoke',
        resourceType: 'api_key',
        resourceId: keyId,
      });
    });
    this.#onKeyRevoked();
  }

  async listAuditLog(tenantId: string, page: Page, filter: AuditFilter): Promise<ListPage<AuditEntry>> {
    await this.getTenant(tenantId);
    return listAuditLog(new TenantDb(this.#postgres.db, tenantId), page, filter);
  }

  async #provision(projectNo: number): Promise<void> {
    try {
      await this.#provisionStorage(projectNo);
    } catch (error) {
      throw new DomainError('store_unavailable', { cause: error });
    }
  }

  /**
   * Checks what the schema of a new key cannot express. An administrator may do everything in its tenant, and
   * administrators are never bound to a project, so no key can get more rights than its creator has.
   */
  async #checkKey(tenantId: string, body: CreateApiKeyBody, nowS: number): Promise<ProjectKind | undefined> {
    const details = [];
    if (body.expires_at !== undefined && body.expires_at <= nowS) {
      details.push({ path: 'expires_at', message: 'expected a time in the future' });
    }
    if (body.project_id !== undefined && body.permissions.includes('tenant:admin')) {
      details.push({ path: 'permissions', message: 'tenant:admin cannot be bound to one project' });
    }
    let projectKind: ProjectKind | undefined;
    if (body.project_id !== undefined) {
      projectKind = await store.findProjectKind(new TenantDb(this.#postgres.db, tenantId), body.project_id);
      if (projectKind === undefined)
        details.push({ path: 'project_id', message: 'expected a project of this tenant' });
    }
    refuseInvalid(details);
    return projectKind;
  }

  #createProject(tenantId: string, body: CreateProjectBody, caller: Caller): Promise<Project> {
    const { name, kind } = body;
    return transaction(this.#postgres, async (tx) => {
      const countOfKind = () => store.countProjects(new TenantDb(tx, tenantId), kind);
      const project: Project = {
        id: newId('prj', this.#clock),
        tenant_id: tenantId,
        name,
        kind,
        storage: await this.#projectAdmission.admitProject(tx, tenantId, kind, countOfKind),
        created_at: unixSeconds(this.#clock),
      };
      await this.#register?.addProject(tenantId, project.id);
      const projectNo = await store.insertProject(tx, project);
      // Inside the transaction, so that no project lacks its tables. Tables that a rolled-back transaction leaves
      // behind belong to no project.
      if (project.storage === 'dedicated') await this.#provision(projectNo);
      await audit(tx, {
        ...this.#recordOf(caller, tenantId),
        projectId: project.id,
        action: 'project.create',
        resourceType: 'project',
        resourceId: project.id,
        change: body,
      });
      return project;
    });
  }

  #recordOf({ principal, requestId }: Caller, tenantId: string) {
    return { tenantId, principal, requestId, atMs: this.#clock.nowMs() };
  }
}
