import { useQuery } from '@tanstack/react-query';
import type { Project, Tenant } from '@tollgate/contract';
import { request } from './client.js';

/** Every project that is visible: they are few, and the switcher shows them all. */
export function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: async () => (await request<{ projects: Project[] }>('GET', '/v1/projects?limit=100')).projects,
  });
}

/** Tenants, for the service key. */
export function useTenants(isEnabled: boolean) {
  return useQuery({
    queryKey: ['tenants'],
    enabled: isEnabled,
    queryFn: async () => (await request<{ tenants: Tenant[] }>('GET', '/admin/v1/tenants?limit=100')).tenants,
  });
}
