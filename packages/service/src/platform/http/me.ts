import { type Me, PERMISSIONS } from '@tollgate/contract';
import type { Principal } from '../../kernel/principal.js';

/** Who a key, or a session that was opened with it, speaks for: what whoever asks is told of himself. */
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
