import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ProjectKind, Tenant } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useTenants } from '../../api/projects.js';
import { useMay, useMe } from '../../api/session.js';
import { client } from '../../api/transport.js';
import { AccountMenu } from '../../shell/account-menu.js';
import { Logo } from '../../shell/logo.js';
import { Button } from '../../ui/button.js';
import { Field, Select } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { NameField } from '../../ui/name-field.js';
import { FailureNote } from '../../ui/states.js';

const KINDS = [
  { value: 'development', label: 'Development: for testing' },
  { value: 'release', label: 'Release: for production' },
] as const;

/** The form for the first project of a service, for keys that may create one. */
export function FirstProjectPage() {
  const isService = useMe().kind === 'service';
  const mayCreate = useMay('tenant:admin') || isService;
  return (
    <main className="flex min-h-dvh items-center justify-center px-4 py-8">
      <div className="w-full max-w-sm">
        <div className="rounded-xl border border-line bg-panel p-6 shadow-sm">
          <div className="mb-5 flex items-center gap-2.5">
            <Logo />
            <h1 className="text-[15px] font-semibold tracking-tight">Create your first project</h1>
          </div>
          {mayCreate ? (
            <ProjectForm />
          ) : (
            <p className="text-[13px] text-ink-soft">
              This key has access to no project. To create one, sign in with a key that has the permission
              tenant:admin.
            </p>
          )}
        </div>
        <div className="mt-3">
          <AccountMenu />
        </div>
      </div>
    </main>
  );
}

const NEW_TENANT = '';

function ProjectForm() {
  const { kind, tenant_id: ownTenantId } = useMe();
  const isService = kind === 'service';
  const tenants = useTenants(isService).data ?? [];
  const [tenantId, setTenantId] = useState<string>();
  const [tenantName, setTenantName] = useState('');
  const [name, setName] = useState('');
  const [projectKind, setProjectKind] = useState<ProjectKind>('development');
  const create = useCreateFirstProject(setTenantId);
  const [, navigate] = useLocation();
  const chosen = ownTenantId ?? tenantId ?? tenants[0]?.id ?? NEW_TENANT;
  // The error path `name` can mean the tenant or the project.
  const errors = fieldErrorsOf(create.error, chosen === NEW_TENANT ? ['kind'] : ['name', 'kind']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const tenant = chosen === NEW_TENANT ? { name: tenantName.trim() } : { id: chosen };
    create.mutate(
      { tenant, name: name.trim(), kind: projectKind },
      { onSuccess: ({ id }) => navigate(`/p/${id}/boards`) },
    );
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {isService && (
        <TenantFields
          chosen={chosen}
          onChoose={setTenantId}
          tenants={tenants}
          name={tenantName}
          onName={setTenantName}
        />
      )}
      <NameField
        label="Project name"
        error={errors.at('name')}
        hint="Holds rules, events and charts."
        value={name}
        onChange={setName}
      />
      <Field label="Kind" error={errors.at('kind')}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={KINDS}
            value={projectKind}
            onChange={setProjectKind}
          />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <Button type="submit" look="primary" isBusy={create.isPending} className="w-full">
        Create project
      </Button>
    </form>
  );
}

/** Fields to choose an existing tenant for the project or to name a new one. */
function TenantFields({
  chosen,
  onChoose,
  tenants,
  name,
  onName,
}: {
  /** The ID of a tenant, or `NEW_TENANT`. */
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  readonly tenants: readonly Tenant[];
  readonly name: string;
  readonly onName: (name: string) => void;
}) {
  return (
    <>
      {tenants.length > 0 && (
        <Field label="Organization">
          {(control) => (
            <Select
              {...control}
              className="w-full"
              value={chosen}
              onChange={onChoose}
              options={[
                ...tenants.map((tenant) => ({ value: tenant.id, label: tenant.name })),
                { value: NEW_TENANT, label: 'New organization' },
              ]}
            />
          )}
        </Field>
      )}
      {chosen === NEW_TENANT && (
        <NameField
          label="Organization name"
          hint="Your own company. Customers come later."
          value={name}
          onChange={onName}
        />
      )}
    </>
  );
}

interface NewProject {
  readonly tenant: { readonly id: string } | { readonly name: string };
  readonly name: string;
  readonly kind: ProjectKind;
}

/** @param onTenant called with the tenant, so that a second try after an error does not create another tenant */
function useCreateFirstProject(onTenant: (id: string) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ tenant, ...body }: NewProject) => {
      const { id } = 'id' in tenant ? tenant : await client.createTenant(tenant);
      onTenant(id);
      return client.tenant(id).createProject(body);
    },
    onError: () => queries.invalidateQueries({ queryKey: ['tenants'] }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] }),
  });
}
