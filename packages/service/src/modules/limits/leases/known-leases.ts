import type { ProjectRef } from '../../../kernel/scope.js';
import type { RuledRequest } from './decisions.js';
import { type Lease, parentIdOf } from './lease.js';
import type { FoundLease, LeaseKey } from './store.js';
import type { LeaseToLock } from './unlocked-store.js';

/** By id, the leases by which a group is decided: those to change, the parents of these, and those of new parts. */
export type KnownLeases = ReadonlyMap<string, FoundLease>;

/** A change of a lease by a group; nobody else has changed it between the two versions. */
export interface WrittenLease {
  readonly from: string;
  readonly now: FoundLease;
}

/** By id. */
export type WrittenLeases = ReadonlyMap<string, WrittenLease>;

/** Returns the leases of which requests take parts, and to which the leases that they change may give back. */
export function parentsOf(
  { tenantId, projectId }: ProjectRef,
  requests: readonly RuledRequest[],
): LeaseKey[] {
  const ids = requests.flatMap((request) =>
    request.do === 'grant' ? (request.parent?.id ?? []) : (parentIdOf(request) ?? []),
  );
  return Array.from(new Set(ids), (id) => ({ tenantId, projectId, id }));
}

/**
 * Returns the leases as they are after a group that was not seen when they were found. Leases that were found after it,
 * or that others have changed, stay as they are.
 *
 * @param parents were found after the leases of the requests
 */
export function knownLeases(
  requests: readonly RuledRequest[],
  parents: readonly (FoundLease | undefined)[],
  written: WrittenLeases,
): KnownLeases {
  const known = new Map<string, FoundLease>();
  for (const request of requests)
    if (request.do !== 'grant' && request.found !== undefined) known.set(request.id, request.found);
  for (const parent of parents) if (parent !== undefined) known.set(parent.lease.id, parent);
  for (const [id, { from, now }] of written) if (known.get(id)?.version === from) known.set(id, now);
  return known;
}

/**
 * Returns the known leases, with all that they are a part of. Whoever adds, changes or ends a part locks the root of
 * its tree, so that the end of a tree misses no part.
 */
export function leasesToLock(known: KnownLeases, changed: readonly Lease[]): LeaseToLock[] {
  const changes = new Map(changed.map((lease) => [lease.id, lease]));
  const locks = new Map<string, LeaseToLock>();
  for (const { lease, version } of known.values()) {
    const depth = lease.ancestorIds.length;
    locks.set(lease.id, { id: lease.id, depth, version, changed: changes.get(lease.id) });
    for (const [at, id] of lease.ancestorIds.entries())
      if (!known.has(id))
        locks.set(id, { id, depth: depth - 1 - at, version: undefined, changed: undefined });
  }
  return [...locks.values()];
}

/** Returns the changes of a group, for the next one. */
export function writtenLeases(locks: readonly LeaseToLock[], to: string): WrittenLeases {
  const written = new Map<string, WrittenLease>();
  for (const { id, version: from, changed: lease } of locks)
    if (lease !== undefined && from !== undefined) written.set(id, { from, now: { lease, version: to } });
  return written;
}
