import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, pageFields, ResourceName, UnixSeconds } from './common.js';
import { IDENTIFIER_CHARS_MAX } from './limits.js';
import { PermissionSchema } from './permissions.js';

const TenantId = Type.String({ description: 'Tenant id, `ten_…`.' });
const ProjectId = Type.String({ description: 'Project id, `prj_…`.' });

export const PROJECT_KINDS = ['development', 'release'] as const;
export type ProjectKind = (typeof PROJECT_KINDS)[number];

export const ProjectKindSchema = Type.Union([Type.Literal('development'), Type.Literal('release')], {
  description: 'Development projects are for tests, release projects for production.',
});

const PermissionList = Type.Array(PermissionSchema, {
  minItems: 1,
  uniqueItems: true,
  description: '`x:write` includes `x:read`; `tenant:admin` includes everything within the tenant.',
});

export const ProjectParams = Type.Object({ project_id: ProjectId }, closed);
export const TenantParams = Type.Object({ tenant_id: TenantId }, closed);
export const ApiKeyParams = Type.Object(
  { tenant_id: TenantId, key_id: Type.String({ description: 'Key id, `key_…`.' }) },
  closed,
);

export const CreateTenantBody = Type.Object(
  { name: ResourceName },
  { ...closed, description: 'A tenant to create.' },
);
export type CreateTenantBody = Static<typeof CreateTenantBody>;

export const Tenant = Type.Object(
  { id: TenantId, name: ResourceName, created_at: UnixSeconds },
  { ...closed, description: 'A tenant: a company that meters its usage with Tollgate.' },
);
export type Tenant = Static<typeof Tenant>;

export const TenantList = Type.Object(
  { tenants: Type.Array(Tenant), ...pageFields },
  { ...closed, description: 'One page of tenants.' },
);
export type TenantList = Static<typeof TenantList>;

export const CreateProjectBody = Type.Object(
  { name: ResourceName, kind: ProjectKindSchema },
  { ...closed, description: 'A project to create.' },
);
export type CreateProjectBody = Static<typeof CreateProjectBody>;

export const Project = Type.Object(
  {
    id: ProjectId,
    tenant_id: TenantId,
    name: ResourceName,
    kind: ProjectKindSchema,
    storage: Type.Union([Type.Literal('shared'), Type.Literal('dedicated')], {
      description: 'Where the usage of the project is kept.',
    }),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A project of a tenant.' },
);
export type Project = Static<typeof Project>;

export const ProjectList = Type.Object(
  { projects: Type.Array(Project), ...pageFields },
  { ...closed, description: 'One page of projects.' },
);
export type ProjectList = Static<typeof ProjectList>;

export const CreateApiKeyBody = Type.Object(
  {
    name: ResourceName,
    permissions: PermissionList,
    project_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Binds the key to one project of the tenant. Not allowed with `tenant:admin`.',
      }),
    ),
    expires_at: Type.Optional(UnixSeconds),
  },
  { ...closed, description: 'An API key to create.' },
);
export type CreateApiKeyBody = Static<typeof CreateApiKeyBody>;

const apiKeyFields = {
  id: Type.String({ description: 'Key id, `key_…`; not secret.' }),
  name: ResourceName,
  permissions: PermissionList,
  project_id: Nullable(ProjectId),
  expires_at: Nullable(UnixSeconds),
  created_at: UnixSeconds,
};

export const ApiKey = Type.Object(apiKeyFields, {
  ...closed,
  description: 'An API key, without its secret.',
});
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = Type.Object(
  { key: Type.String({ description: 'The secret. Store it: it is not shown again.' }), ...apiKeyFields },
  { ...closed, description: 'The new API key, with its secret.' },
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const ApiKeyList = Type.Object(
  { api_keys: Type.Array(ApiKey), ...pageFields },
  { ...closed, description: 'One page of API keys, revoked ones left out.' },
);
export type ApiKeyList = Static<typeof ApiKeyList>;

export const Me = Type.Object(
  {
    kind: Type.Union([Type.Literal('service'), Type.Literal('key')]),
    key_id: Nullable(Type.String()),
    tenant_id: Nullable(TenantId),
    project_id: Nullable(ProjectId),
    permissions: PermissionList,
  },
  {
    ...closed,
    description: 'The tenant, project and permissions of the key. All ids are null for the service key.',
  },
);
export type Me = Static<typeof Me>;

const auditFilter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX, description }));

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    tenant_id: TenantId,
    project_id: Nullable(ProjectId),
    actor: Type.String({ description: '`service`, or the id of the key that was used.' }),
    action: Type.String({ description: 'The recorded action, e.g. `api_key.create`.' }),
    resource_type: Type.String(),
    resource_id: Type.String(),
    change: Type.Unknown({
      description: 'The written values, without secrets; null when the action needs no details.',
    }),
    request_id: Type.String({ description: '`X-Request-Id` of the request.' }),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A change, who made it and by which request.' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditLogQuery = Type.Object(
  {
    ...PageQuery.properties,
    actor: auditFilter('Only changes by this actor: `service`, or the id of a key.'),
    action: auditFilter('Only changes of this kind, e.g. `api_key.create`.'),
    resource_type: auditFilter('Only changes of resources of this type.'),
    resource_id: auditFilter('Only changes of this resource.'),
    project_id: auditFilter('Only changes in this project.'),
  },
  closed,
);
export type AuditLogQuery = Static<typeof AuditLogQuery>;

export const AuditLog = Type.Object(
  { entries: Type.Array(AuditEntry), ...pageFields },
  { ...closed, description: 'One page of the audit log, newest entry first.' },
);
export type AuditLog = Static<typeof AuditLog>;
