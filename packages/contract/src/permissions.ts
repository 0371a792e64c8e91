import { Type } from 'typebox';

/** Everything a tenant key can be allowed to do. */
export const PERMISSIONS = [
  'rules:read',
  'rules:write',
  'usage:ingest',
  'usage:read',
  'usage:correct',
  'analytics:read',
  'analytics:write',
  'usage_control:read',
  'usage_control:write',
  'wallets:read',
  'wallets:write',
  'webhooks:read',
  'webhooks:write',
  'billing:read',
  'tenant:admin',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

export const PermissionSchema = Type.Unsafe<Permission>({
  type: 'string',
  enum: [...PERMISSIONS],
  description: 'A permission of an API key.',
});

/**
 * Whether a key with the permissions `granted` may do `needed`: `x:write` includes `x:read`, `usage:correct` includes
 * `usage:read`, `tenant:admin` everything.
 */
export function permits(granted: readonly Permission[], needed: Permission): boolean {
  if (granted.includes(needed) || granted.includes('tenant:admin')) return true;
  if (needed === 'usage:read' && granted.includes('usage:correct')) return true;
  return needed.endsWith(':read') && granted.includes(needed.replace(':read', ':write') as Permission);
}
