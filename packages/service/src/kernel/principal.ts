import { type Permission, permits } from '@tollgate/contract';
import type { MaybePromise } from './maybe-promise.js';

/** The service's own key: it may do everything in every tenant. */
export interface ServicePrincipal {
  readonly kind: 'service';
}

/** A tenant's key. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly tenantId: string;
  /** Set when the key is bound to one project. */
  readonly projectId: string | undefined;
  /** The granted permissions. `principalPermits` also knows which others they imply. */
  readonly permissions: readonly Permission[];
}

/** The caller of an operation. */
export type Principal = ServicePrincipal | KeyPrincipal;

/** Returns the principal of credentials, without a promise where possible, for the hot path. */
export interface Authenticator {
  /** Returns the principal of a bearer token; undefined when the token is malformed, unknown, revoked or expired. */
  authenticate(token: string): MaybePromise<Principal | undefined>;
}

/** Whether the principal has all `needed` permissions within the tenants and projects it can see. */
export function principalPermits(principal: Principal, needed: Permission | readonly Permission[]): boolean {
  if (principal.kind === 'service') return true;
  if (typeof needed === 'string') return permits(principal.permissions, needed);
  return needed.every((permission) => permits(principal.permissions, permission));
}
