/** Multiple of the free room that one tenant may hold. */
const FREE_ROOM_MULTIPLE = 3;

/**
 * From how much on a tenant holds more than its share of a bounded store. The share follows from what is
 * free: alone, a tenant may hold three quarters; of two that ask for all each may hold three sevenths. So no
 * number of loud tenants leaves nothing, and who holds little is let in, without a share set aside for
 * tenants that send nothing.
 *
 * @param held what all tenants hold together
 */
export function tenantShare(held: number, max: number): number {
  return FREE_ROOM_MULTIPLE * (max - held);
}
