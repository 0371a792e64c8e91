import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreateProjectBody } from '@tollgate/contract';
import { everyPage } from './every-page.js';
import { client } from './transport.js';

/** All visible projects; the project switcher lists them. */
export function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: () =>
      everyPage(
        (page) => client.projects(page),
        ({ projects }) => projects,
      ),
  });
}

/** Creates a project of a tenant. */
export function useCreateProject(tenantId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateProjectBody) => client.tenant(tenantId).createProject(body),
    // The new project can be opened once it is in the list.
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] }),
  });
}

/** Tenants, for the service key. */
export function useTenants(isEnabled: boolean) {
  return useQuery({
    queryKey: ['tenants'],
    enabled: isEnabled,
    queryFn: () =>
      everyPage(
        (page) => client.tenants(page),
        ({ tenants }) => tenants,
      ),
  });
}
