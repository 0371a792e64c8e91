import type { MaybePromise } from './maybe-promise.js';

/** The cell that serves a tenant. */
export interface CellRoute {
  readonly cell: string;
  /** URL of its API. */
  readonly url: string;
  readonly tenantId: string;
}

/** The cells of which this service is one. */
export interface CellPort {
  /** Name of the cell of this service. */
  readonly name: string;
  /** Returns whether this cell serves a tenant. */
  servesTenant(tenantId: string): Promise<boolean>;
  /**
   * Returns the cell of a tenant, this one included; undefined when there is no such tenant.
   *
   * @param address the id of a tenant or project, or the SHA-256 of an API key in hex
   * @param source the client's IP address: each has a share of the look-ups
   * @throws DomainError while the tenant is being moved, or the directory of cells is away
   */
  routeOf(address: string, source: string): MaybePromise<CellRoute | undefined>;
  /** As `routeOf`, after the cell that it named has refused the request. */
  routeAgain(address: string, source: string): Promise<CellRoute | undefined>;
  /** Returns the cell that takes the next tenant; undefined when none does. */
  cellForNewTenant(): Promise<Omit<CellRoute, 'tenantId'> | undefined>;
}
