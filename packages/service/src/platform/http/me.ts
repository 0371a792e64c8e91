import { type Me, PERMISSIONS } from '@tollgate/contract';
import type { Principal } from '../../kernel/principal.js';

/** Returns the tenant, project and permissions of the caller's key or session, for `GET /v1/me`. */
export function meOf(principal: Principal): Me {
  const key = principal.kind === 'key' ? principal : undefined;
  return {
    kind: principal.kind,
    key_id: key?.keyId ?? null,
    tenant_id: key?.tenantId ?? null,
    project_id: key?.projectId ?? null,
    permissions: [...(key?.permissions ?? PERMISSIONS)],
  };
}
