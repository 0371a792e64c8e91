import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ApiKey,
  ApiKeyList,
  AuditLog,
  CatalogPlan,
  CreateApiKeyBody,
  CreatedApiKey,
  Entitlement,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProject } from '../../project.js';
import { purchase } from './purchase.js';

const PAGE_SIZE = 50;

function useTenantPath(): string {
  return `/admin/v1/tenants/${useProject().tenant_id}`;
}

export function useApiKeys() {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['keys', tenant],
    queryFn: async () => (await request<ApiKeyList>('GET', `${tenant}/api-keys?limit=100`)).api_keys,
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

/** What was changed, newest first. */
export function useAuditLog() {
  const tenant = useTenantPath();
  return useInfiniteQuery({
    queryKey: ['audit', tenant],
    queryFn: ({ pageParam }) =>
      request<AuditLog>('GET', withQuery(`${tenant}/audit-log`, { limit: PAGE_SIZE, offset: pageParam })),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total_count }) =>
      offset + limit < total_count ? offset + limit : undefined,
  });
}

export function useEntitlement() {
  const tenant = useTenantPath();
  return useQuery({
    queryKey: ['entitlement', tenant],
    queryFn: () => request<Entitlement>('GET', `${tenant}/entitlement`),
    // A payment is told by the provider, some time after the page came back.
    refetchInterval: 5_000,
  });
}

export function useCatalog() {
  return useQuery({
    queryKey: ['catalog'],
    queryFn: async () => (await request<{ plans: CatalogPlan[] }>('GET', '/v1/plans')).plans,
  });
}

/** Leads to the payment page of a plan. */
export function usePurchase() {
  const tenant = useTenantPath();
  return useMutation({
    mutationFn: (planId: string) => purchase(tenant, planId),
    onSuccess: ({ session_url }) => window.location.assign(session_url),
  });
}
