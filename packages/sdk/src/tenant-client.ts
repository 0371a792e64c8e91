import type {
  ApiKeyList,
  AuditLog,
  AuditLogQuery,
  CheckoutSession,
  CreateApiKeyBody,
  CreateCheckoutBody,
  CreatedApiKey,
  CreateProjectBody,
  Entitlement,
  PaymentOrder,
  PaymentOrderList,
  PaymentOrderQuery,
  Project,
  ProjectList,
  Tenant,
} from '#contract';
import { type CallOptions, PathTransport } from './path-transport.js';
import { type PageOptions, path, type Transport } from './transport.js';

/**
 * A client that administers one tenant, with a key of the tenant's administrator or the service key. Throws ApiError
 * and ConnectionError.
 */
export class TenantClient {
  readonly #transport: PathTransport;

  constructor(
    transport: Transport,
    readonly tenantId: string,
  ) {
    this.#transport = new PathTransport(transport, path`/admin/v1/tenants/${tenantId}`);
  }

  get(options?: CallOptions): Promise<Tenant> {
    return this.#transport.get('', {}, options);
  }

  createProject(project: CreateProjectBody, options?: CallOptions): Promise<Project> {
    return this.#transport.post('/projects', project, options);
  }

  projects(page: PageOptions = {}, options?: CallOptions): Promise<ProjectList> {
    return this.#transport.get('/projects', page, options);
  }

  /** Creates a key; the response shows it, once. */
  createApiKey(key: CreateApiKeyBody, options?: CallOptions): Promise<CreatedApiKey> {
    return this.#transport.post('/api-keys', key, options);
  }

  apiKeys(page: PageOptions = {}, options?: CallOptions): Promise<ApiKeyList> {
    return this.#transport.get('/api-keys', page, options);
  }

  revokeApiKey(keyId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/api-keys/${keyId}`, options);
  }

  /** Returns one page of changes, newest first. */
  auditLog(query: AuditLogQuery = {}, options?: CallOptions): Promise<AuditLog> {
    return this.#transport.get('/audit-log', query, options);
  }

  /** Returns the plan of the tenant, and what it allows now. */
  entitlement(options?: CallOptions): Promise<Entitlement> {
    return this.#transport.get('/entitlement', {}, options);
  }

  /** Starts the purchase of a plan. The same key returns the same page until the order is paid or has expired. */
  checkout(
    purchase: CreateCheckoutBody,
    options: CallOptions & { readonly idempotencyKey: string },
  ): Promise<CheckoutSession> {
    return this.#transport.post('/payments/provider/checkout-sessions', purchase, options);
  }

  /** Returns payment orders, newest first. */
  orders(query: PaymentOrderQuery = {}, options?: CallOptions): Promise<PaymentOrderList> {
    return this.#transport.get('/payments/orders', query, options);
  }

  order(orderId: string, options?: CallOptions): Promise<PaymentOrder> {
    return this.#transport.get(path`/payments/orders/${orderId}`, {}, options);
  }
}
