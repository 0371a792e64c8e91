import type { Permission } from '@tollgate/contract';

/** Permissions for one part of the service. */
export interface PermissionGroup {
  readonly label: string;
  readonly permissions: readonly Permission[];
}

export const PERMISSION_GROUPS: readonly PermissionGroup[] = [
  { label: 'Usage', permissions: ['usage:ingest', 'usage:read', 'usage:correct'] },
  { label: 'Rules and prices', permissions: ['rules:read', 'rules:write'] },
  { label: 'Analytics and boards', permissions: ['analytics:read', 'analytics:write'] },
  { label: 'Limits', permissions: ['usage_control:read', 'usage_control:write'] },
  { label: 'Accounts and wallets', permissions: ['wallets:read', 'wallets:write'] },
  { label: 'Webhooks', permissions: ['webhooks:read', 'webhooks:write'] },
  { label: 'Billing', permissions: ['billing:read'] },
  { label: 'Administration', permissions: ['tenant:admin'] },
];

/** The part of a permission after the colon. */
export function verbOf(permission: Permission): string {
  return permission.slice(permission.indexOf(':') + 1);
}

/** Verbs that include reading. */
const INCLUDE_READ = ['write', 'correct'];

/**
 * Turns a permission on or off. Write and correct include read, so turning one of them on turns the other one off.
 */
export function toggled(chosen: readonly Permission[], permission: Permission): Permission[] {
  if (chosen.includes(permission)) return chosen.filter((each) => each !== permission);
  const [noun, verb] = permission.split(':');
  const others =
    verb === 'read'
      ? INCLUDE_READ.map((each) => `${noun}:${each}`)
      : INCLUDE_READ.includes(verb ?? '')
        ? [`${noun}:read`]
        : [];
  return [...chosen.filter((each) => !others.includes(each)), permission];
}
