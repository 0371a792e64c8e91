export { fenceOf, hasFirstReleaseMember, type ProcessLease } from './lease-store.js';
export { type LeasedKind, ProcessLeases, type ProcessLeasesOptions } from './process-leases.js';
