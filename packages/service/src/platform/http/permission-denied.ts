import type { Permission } from '@tollgate/contract';
import { ApiError } from './errors.js';
import { type Principal, principalPermits } from './types.js';

/** The 403 of a key that cannot be given what the operation needs. */
export function permissionDenied(message: string): ApiError {
  return new ApiError('permission_denied', { message });
}

/** The 403 of a key that lacks permissions; names each of them. */
export function lackingPermissions(
  principal: Principal,
  needed: Permission | readonly Permission[],
): ApiError {
  const missing = [needed].flat().filter((permission) => !principalPermits(principal, permission));
  const noun = missing.length === 1 ? 'permission' : 'permissions';
  return new ApiError('permission_denied', {
    message: `This API key lacks the ${noun} ${missing.join(', ')}.`,
    details: missing.map((permission) => ({
      path: '',
      message: 'expected an API key with this permission',
      permission,
    })),
  });
}

/** The 403 of an administrator's key that is bound to one project. */
export function boundToProject(): ApiError {
  return permissionDenied('This API key is bound to one project, so it cannot administer the tenant.');
}
