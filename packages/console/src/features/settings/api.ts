import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ApiKey,
  ApiKeyList,
  AuditEntry,
  AuditLog,
  AuditLogQuery,
  CatalogPlanList,
  CreateApiKeyBody,
  CreatedApiKey,
  Entitlement,
  PaymentOrder,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { everyPage } from '../../api/every-page.js';
import { useMay, useMe } from '../../api/session.js';
import { useProject } from '../../project.js';
import { purchase } from './purchase.js';

const AUDIT_PAGE_SIZE = 50;
/** Number of entries that are searched for the previous change of a resource. */
const HISTORY_ENTRIES = 100;

function useTenantPath(): string {
  return `/admin/v1/tenants/${useProject().tenant_id}`;
}

/** Whether the session administers the whole tenant, and not one project of it. */
export function useIsAdmin(): boolean {
  const me = useMe();
  const mayAdminister = useMay('tenant:admin');
  return me.kind === 'service' || (mayAdminister && me.project_id === null);
}

export function useApiKeys() {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['keys', tenant],
    queryFn: () =>
      everyPage(
        `${tenant}/api-keys`,
        ({ api_keys }: ApiKeyList & { readonly total_count: number }) => api_keys,
      ),
  });
}

export function useApiKeyChanges() {
  const tenant = useTenantPath();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: ['keys', tenant] });
  return {
    create: useMutation({
      mutationFn: (body: CreateApiKeyBody) => request<CreatedApiKey>('POST', `${tenant}/api-keys`, { body }),
      onSettled,
    }),
    revoke: useMutation({
      mutationFn: ({ id }: ApiKey) => request<void>('DELETE', `${tenant}/api-keys/${id}`),
      onSettled,
    }),
  };
}

export type AuditFilter = Omit<AuditLogQuery, 'limit' | 'offset'>;

/** One page of the audit log, newest first. */
export function useAuditLog(filter: AuditFilter, offset: number) {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['audit', tenant, filter, offset],
    queryFn: () =>
      request<AuditLog>(
        'GET',
        withQuery(`${tenant}/audit-log`, { ...filter, limit: AUDIT_PAGE_SIZE, offset }),
      ),
    // Rows stay until those of the next page are there.
    placeholderData: (previous) => previous,
  });
}

/** The audit entries of the same resource, newest first. */
export function useHistoryOf({ resource_type, resource_id }: AuditEntry) {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['audit', tenant, 'of', resource_type, resource_id],
    queryFn: async () => {
      const query = { resource_type, resource_id, limit: HISTORY_ENTRIES };
      return (await request<AuditLog>('GET', withQuery(`${tenant}/audit-log`, query))).entries;
    },
  });
}

/** The entitlement of the tenant. Any key of the tenant may read it. */
export function useEntitlement(options: { readonly refetchInterval?: number | false } = {}) {
  const tenant = useTenantPath();
  const isAdmin = useIsAdmin();
  return useQuery({
    queryKey: ['entitlement', tenant],
    queryFn: () => request<Entitlement>('GET', isAdmin ? `${tenant}/entitlement` : '/v1/entitlement'),
    ...options,
  });
}

export function useCatalog() {
  return useQuery({
    queryKey: ['catalog'],
    queryFn: () => request<CatalogPlanList>('GET', '/v1/plans'),
  });
}

/** Opens the payment page of a subscription plan. */
export function usePurchase() {
  const tenant = useTenantPath();
  const { id: projectId } = useProject();
  const isService = useMe().kind === 'service';
  return useMutation({
    mutationFn: (planId: string) => purchase({ tenantPath: tenant, projectId, planId, isService }),
    onSuccess: ({ session_url }) => window.location.assign(session_url),
  });
}

/** The last order of the tenant, from whose payment page a buyer returns; null if there is none. */
export function useLastOrder(options: { readonly refetchInterval: number | false }) {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['order', tenant],
    queryFn: async () =>
      (await request<{ orders: PaymentOrder[] }>('GET', `${tenant}/payments/orders?limit=1`)).orders[0] ??
      null,
    staleTime: 0,
    ...options,
  });
}

const PAYMENTS_SHOWN = 10;

/** The last paid orders of the tenant, newest first. */
export function usePayments() {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['payments', tenant],
    queryFn: async () => {
      const path = withQuery(`${tenant}/payments/orders`, { status: 'paid', limit: PAYMENTS_SHOWN });
      return (await request<{ orders: PaymentOrder[] }>('GET', path)).orders;
    },
  });
}
