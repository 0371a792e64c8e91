import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, pageFields, ResourceName, UnixSeconds } from './common.js';
import { IDENTIFIER_CHARS_MAX } from './limits.js';
import { PERMISSIONS, type Permission } from './permissions.js';

const TenantId = Type.String({ description: 'Tenant id, `ten_…`.' });
const ProjectId = Type.String({ description: 'Project id, `prj_…`.' });

export const PROJECT_KINDS = ['development', 'release'] as const;
export type ProjectKind = (typeof PROJECT_KINDS)[number];

const ProjectKindSchema = Type.Union([Type.Literal('development'), Type.Literal('release')], {
  description: 'Development projects are for trying things out, release projects for production.',
});

const PermissionSchema = Type.Unsafe<Permission>({ type: 'string', enum: [...PERMISSIONS] });

const PermissionList = Type.Array(PermissionSchema, {
  minItems: 1,
  uniqueItems: true,
  description: '`x:write` includes `x:read`; `tenant:admin` includes everything within the tenant.',
});

export const TenantParams = Type.Object({ tenant_id: TenantId }, closed);
export const ApiKeyParams = Type.Object(
  { tenant_id: TenantId, key_id: Type.String({ description: 'Key id, `key_…`.' }) },
  closed,
);

export const CreateTenantBody = Type.Object({ name: ResourceName }, closed);
export type CreateTenantBody = Static<typeof CreateTenantBody>;

export const Tenant = Type.Object({ id: TenantId, name: ResourceName, created_at: UnixSeconds }, closed);
export type Tenant = Static<typeof Tenant>;

export const TenantList = Type.Object({ tenants: Type.Array(Tenant), ...pageFields }, closed);

export const CreateProjectBody = Type.Object({ name: ResourceName, kind: ProjectKindSchema }, closed);
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
  closed,
);
export type Project = Static<typeof Project>;

export const ProjectList = Type.Object({ projects: Type.Array(Project), ...pageFields }, closed);
export type ProjectList = Static<typeof ProjectList>;

export const CreateApiKeyBody = Type.Object(
  {
    name: ResourceName,
    permissions: PermissionList,
    project_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Binds the key to one project of the tenant. Not together with `tenant:admin`.',
      }),
    ),
    expires_at: Type.Optional(UnixSeconds),
  },
  closed,
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

export const ApiKey = Type.Object(apiKeyFields, closed);
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = Type.Object(
  { key: Type.String({ description: 'The secret. It is shown here and never again.' }), ...apiKeyFields },
  closed,
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const ApiKeyList = Type.Object({ api_keys: Type.Array(ApiKey), ...pageFields }, closed);
export type ApiKeyList = Static<typeof ApiKeyList>;

export const Me = Type.Object(
  {
    kind: Type.Union([Type.Literal('service'), Type.Literal('key')]),
    key_id: Nullable(Type.String()),
    tenant_id: Nullable(TenantId),
    project_id: Nullable(ProjectId),
    permissions: PermissionList,
  },
  { ...closed, description: 'Who the key speaks for. All ids are null for the service key.' },
);
export type Me = Static<typeof Me>;

const AuditFilter = Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX });

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    tenant_id: TenantId,
    project_id: Nullable(ProjectId),
    actor: Type.String({ description: '`service`, or the id of the key that was used.' }),
    action: Type.String({ description: 'What was done, e.g. `api_key.create`.' }),
    resource_type: Type.String(),
    resource_id: Type.String(),
    change: Type.Unknown({
      description: 'What was written, without secrets; null when the action says it all.',
    }),
    request_id: Type.String({ description: '`X-Request-Id` of the request.' }),
    created_at: UnixSeconds,
  },
  closed,
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditLogQuery = Type.Object(
  {
    ...PageQuery.properties,
    actor: Type.Optional(AuditFilter),
    action: Type.Optional(AuditFilter),
    resource_type: Type.Optional(AuditFilter),
    resource_id: Type.Optional(AuditFilter),
    project_id: Type.Optional(AuditFilter),
  },
  closed,
);
export type AuditLogQuery = Static<typeof AuditLogQuery>;

export const AuditLog = Type.Object({ entries: Type.Array(AuditEntry), ...pageFields }, closed);
export type AuditLog = Static<typeof AuditLog>;
