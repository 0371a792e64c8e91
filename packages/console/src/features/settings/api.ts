import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ApiKey,
  ApiKeyList,
  AuditLog,
  CatalogPlan,
  CheckoutSession,
  CreateApiKeyBody,
  CreatedApiKey,
  Entitlement,
} from '@tollgate/contract';
import { ApiFailure, request, withQuery } from '../../api/client.js';
import { useProject } from '../../project.js';

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

const KEY_STORAGE = 'tollgate.checkout-key.';

/** Leads to the payment page of a plan. The key is kept for this tab, so that a second click leads to the same page. */
export function usePurchase() {
  return useMutation({
    mutationFn: (planId: string) => checkout(planId),
    onSuccess: ({ session_url }) => window.location.assign(session_url),
  });
}

async function checkout(planId: string): Promise<CheckoutSession> {
  try {
    return await beginCheckout(planId);
  } catch (error) {
    if (!(error instanceof ApiFailure && error.code === 'payment_checkout_expired')) throw error;
    sessionStorage.removeItem(KEY_STORAGE + planId);
    return beginCheckout(planId);
  }
}

function beginCheckout(planId: string): Promise<CheckoutSession> {
  const key = sessionStorage.getItem(KEY_STORAGE + planId) ?? crypto.randomUUID();
  sessionStorage.setItem(KEY_STORAGE + planId, key);
  return request('POST', '/payments/provider/checkout-sessions', {
    body: { plan_id: planId },
    headers: { 'idempotency-key': key },
  });
}
