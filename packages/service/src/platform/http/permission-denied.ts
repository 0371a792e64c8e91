import type { Permission } from '@tollgate/contract';
import { DomainError } from '../../kernel/errors.js';
import { type Principal, principalPermits } from '../../kernel/principal.js';

/** Returns the 403 of a key that may not do what the operation needs. */
export function permissionDenied(message: string): DomainError {
  return new DomainError('permission_denied', { message });
}

/** Returns the 403 of a key that lacks permissions; names each of them. */
export function lackingPermissions(
  principal: Principal,
  needed: Permission | readonly Permission[],
): DomainError {
  const missing = [needed].flat().filter((permission) => !principalPermits(principal, permission));
  const noun = missing.length === 1 ? 'permission' : 'permissions';
  return new DomainError('permission_denied', {
    message: `This API key lacks the ${noun} ${missing.join(', ')}.`,
    details: missing.map((permission) => ({
      path: '',
      message: 'expected an API key with this permission',
      permission,
    })),
  });
}

/** Returns the 403 of an administrator's key that is bound to one project. */
export function boundToProject(): DomainError {
  return permissionDenied('This API key is bound to one project, so it cannot administer the tenant.');
}
