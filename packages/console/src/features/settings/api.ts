import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ApiKey, AuditEntry, AuditLogQuery, CreateApiKeyBody } from '@tollgate/contract';
import type { TenantClient } from '@tollgate/sdk/browser';
import { everyPage } from '../../api/every-page.js';
import { filled } from '../../api/filled.js';
import { useMay, useMe } from '../../api/session.js';
import { client } from '../../api/transport.js';
import { useProject } from '../../project.js';
import { purchase } from './purchase.js';

const AUDIT_PAGE_SIZE = 50;
/** Number of entries that are searched for the previous change of a resource. */
const HISTORY_ENTRIES = 100;

function useTenantClient(): TenantClient {
  return client.tenant(useProject().tenant_id);
}

/** Whether the session administers the whole tenant, and not one project of it. */
export function useIsAdmin(): boolean {
  const me = useMe();
  const mayAdminister = useMay('tenant:admin');
  return me.kind === 'service' || (mayAdminister && me.project_id === null);
}

export function useApiKeys(isEnabled = true) {
  const tenant = useTenantClient();
  return useQuery({
    queryKey: ['keys', tenant.tenantId],
    enabled: isEnabled,
    queryFn: () =>
      everyPage(
        (page) => tenant.apiKeys(page),
        ({ api_keys }) => api_keys,
      ),
  });
}

export function useApiKeyChanges() {
  const tenant = useTenantClient();
  const queries = useQueryClient();
  const onSettled = () => queries.invalidateQueries({ queryKey: ['keys', tenant.tenantId] });
  return {
    create: useMutation({
      mutationFn: (body: CreateApiKeyBody) => tenant.createApiKey(body),
      onSettled,
    }),
    revoke: useMutation({
      mutationFn: ({ id }: ApiKey) => tenant.revokeApiKey(id),
      onSettled,
    }),
  };
}

export type AuditFilter = Omit<AuditLogQuery, 'limit' | 'offset'>;

/** One page of the audit log, newest first. */
export function useAuditLog(filter: AuditFilter, offset: number) {
  const tenant = useTenantClient();
  return useQuery({
    queryKey: ['audit', tenant.tenantId, filter, offset],
    queryFn: () => tenant.auditLog({ ...filled(filter), limit: AUDIT_PAGE_SIZE, offset }),
    // Rows stay until those of the next page are there.
    placeholderData: (previous) => previous,
  });
}

/** The audit entries of the same resource, newest first. */
export function useHistoryOf({ resource_type, resource_id }: AuditEntry) {
  const tenant = useTenantClient();
  return useQuery({
    queryKey: ['audit', tenant.tenantId, 'of', resource_type, resource_id],
    queryFn: async () => {
      const query = { resource_type, resource_id, limit: HISTORY_ENTRIES };
      return (await tenant.auditLog(query)).entries;
    },
  });
}

/** The entitlement of the tenant. Any key of the tenant may read it. */
export function useEntitlement(options: { readonly refetchInterval?: number | false } = {}) {
  const tenant = useTenantClient();
  const isAdmin = useIsAdmin();
  return useQuery({
    queryKey: ['entitlement', tenant.tenantId],
    queryFn: () => (isAdmin ? tenant.entitlement() : client.entitlement()),
    ...options,
  });
}

export function useCatalog() {
  return useQuery({
    queryKey: ['catalog'],
    queryFn: () => client.plans(),
  });
}

/** Opens the payment page of a subscription plan. */
export function usePurchase() {
  const tenant = useTenantClient();
  const { id: projectId } = useProject();
  const isService = useMe().kind === 'service';
  return useMutation({
    mutationFn: (planId: string) => purchase({ tenantId: tenant.tenantId, projectId, planId, isService }),
    onSuccess: ({ session_url }) => window.location.assign(session_url),
  });
}

/** The last order of the tenant, from whose payment page a buyer returns; null if there is none. */
export function useLastOrder(options: { readonly refetchInterval: number | false }) {
  const tenant = useTenantClient();
  return useQuery({
    queryKey: ['order', tenant.tenantId],
    queryFn: async () => (await tenant.orders({ limit: 1 })).orders[0] ?? null,
    staleTime: 0,
    ...options,
  });
}

const PAYMENTS_SHOWN = 10;

/** The last paid orders of the tenant, newest first. */
export function usePayments() {
  const tenant = useTenantClient();
  return useQuery({
    queryKey: ['payments', tenant.tenantId],
    queryFn: async () => (await tenant.orders({ status: 'paid', limit: PAYMENTS_SHOWN })).orders,
  });
}
