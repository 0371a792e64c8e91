import type {
  CatalogPlanList,
  CreateTenantBody,
  Entitlement,
  ExtractorTemplateList,
  Me,
  ProjectList,
  Tenant,
  TenantList,
} from '#contract';
import { type CallOptions, PathTransport } from './path-transport.js';
import { ProjectClient } from './project-client.js';
import { TenantClient } from './tenant-client.js';
import { type ClientOptions, type PageOptions, type RequestOptions, Transport } from './transport.js';

/** A client of a Tollgate service with one API key. Throws ApiError and ConnectionError. */
export class TollgateClient {
  readonly #transport: Transport;
  readonly #api: PathTransport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.#api = new PathTransport(this.#transport, '');
  }

  /** Returns the tenant and the permissions of the key. */
  me(options?: CallOptions): Promise<Me> {
    return this.#api.get('/v1/me', {}, options);
  }

  /** Returns the projects that the key can see. */
  projects(page: PageOptions = {}, options?: CallOptions): Promise<ProjectList> {
    return this.#api.get('/v1/projects', page, options);
  }

  /** Returns a client for one project. Sends no request. */
  project(projectId: string): ProjectClient {
    return new ProjectClient(this.#transport, projectId);
  }

  /** Returns the plan of the key's tenant, and what it allows now. */
  entitlement(options?: CallOptions): Promise<Entitlement> {
    return this.#api.get('/v1/entitlement', {}, options);
  }

  /** Returns the plans that a tenant can have. */
  plans(options?: CallOptions): Promise<CatalogPlanList> {
    return this.#api.get('/v1/plans', {}, options);
  }

  /** Returns the rules that come with the service, as starting points for drafts. */
  extractorTemplates(options?: CallOptions): Promise<ExtractorTemplateList> {
    return this.#api.get('/v1/extractor-templates', {}, options);
  }

  /** Needs the service key, as does the list of tenants. */
  createTenant(tenant: CreateTenantBody, options?: CallOptions): Promise<Tenant> {
    return this.#api.post('/admin/v1/tenants', tenant, options);
  }

  tenants(page: PageOptions = {}, options?: CallOptions): Promise<TenantList> {
    return this.#api.get('/admin/v1/tenants', page, options);
  }

  /** Returns a client that administers one tenant. Sends no request. */
  tenant(tenantId: string): TenantClient {
    return new TenantClient(this.#transport, tenantId);
  }

  /**
   * Sends a request that has no method of its own.
   * @param path relative to the base URL, e.g. `/v1/me`
   */
  request<Answer>(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    return this.#transport.request(method, path, options);
  }
}
