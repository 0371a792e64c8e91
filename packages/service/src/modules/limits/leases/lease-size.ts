import { invalidRequest } from '../../../kernel/errors.js';
import type { Lease, LeaseInput } from './lease.js';

/** Upper bound of the limits that all holds of a lease together are reserved of; their rules are stored with it. */
export const LEASE_LIMITS_MAX = 2_000;

/**
 * @param count of how many limits it would be reserved, counted for each hold
 * @throws DomainError `invalid_request` for a lease that would be reserved of too many
 */
export function refuseManyLimits({ isPlain }: Pick<LeaseInput, 'isPlain'>, count: number): void {
  if (count <= LEASE_LIMITS_MAX) return;
  throw invalidRequest(
    isPlain ? 'amount' : 'holds',
    `expected to be reserved of at most ${LEASE_LIMITS_MAX} limits (LEASE_LIMITS_MAX), counted for each hold, not ${count}`,
  );
}

/** Returns of how many limits a lease is reserved, counted for each hold. */
export function limitsOfLease({ holds, slots }: Lease): number {
  return slots.length + ruleCount(holds.map(({ rules }) => rules));
}

/** Returns how many rules lists have together. */
export function ruleCount(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((sum, { length }) => sum + length, 0);
}
