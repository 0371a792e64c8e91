/** Multiple of the free room that one tenant may hold. */
const FREE_ROOM_MULTIPLE = 3;

/**
 * Returns the amount from which on a tenant holds more than its share of a bounded store. The share depends on the free
 * room: a single tenant may hold three quarters, each of two may hold three sevenths. So no number of heavy tenants
 * fills the store, and tenants that hold little are always let in, without reserving a share for tenants that send
 * nothing.
 *
 * @param held what all tenants hold together
 */
export function tenantShare(held: number, max: number): number {
  return FREE_ROOM_MULTIPLE * (max - held);
}

/**
 * Returns how many more units a tenant may take at once, each of them while it holds less than its share.
 *
 * @param ofTenant what the tenant holds
 * @param held what all tenants hold together
 */
export function tenantRoom(ofTenant: number, held: number, max: number): number {
  return Math.max(0, Math.ceil((tenantShare(held, max) - ofTenant) / (FREE_ROOM_MULTIPLE + 1)));
}
