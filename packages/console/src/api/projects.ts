import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreateProjectBody, Project, Tenant } from '@tollgate/contract';
import { request } from './client.js';
import { everyPage } from './every-page.js';

interface Projects {
  readonly projects: Project[];
  readonly total_count: number;
}
interface Tenants {
  readonly tenants: Tenant[];
  readonly total_count: number;
}

/** All visible projects; the project switcher lists them. */
export function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: () => everyPage('/v1/projects', ({ projects }: Projects) => projects),
  });
}

/** Creates a project of a tenant. */
export function useCreateProject(tenantId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateProjectBody) =>
      request<Project>('POST', `/admin/v1/tenants/${tenantId}/projects`, { body }),
    // The new project can be opened once it is in the list.
    onSuccess: () => client.invalidateQueries({ queryKey: ['projects'] }),
  });
}

/** Tenants, for the service key. */
export function useTenants(isEnabled: boolean) {
  return useQuery({
    queryKey: ['tenants'],
    enabled: isEnabled,
    queryFn: () => everyPage('/admin/v1/tenants', ({ tenants }: Tenants) => tenants),
  });
}
