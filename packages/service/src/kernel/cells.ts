import type { MaybePromise } from './maybe-promise.js';

/** The cell that serves a tenant. */
export interface CellRoute {
  readonly cell: string;
  /** URL of its API. */
  readonly url: string;
  readonly tenantId: string;
}

/** The cells, seen by a service that is one of them. */
export interface CellPort {
  /** Name of the cell of this service. */
  readonly name: string;
  /** Returns whether this cell serves a tenant. */
  servesTenant(tenantId: string): Promise<boolean>;
  /**
   * Returns the cell of a tenant, which may be this one; undefined if there is no such tenant.
   *
   * @param address the id of a tenant or project, or the SHA-256 of an API key in hex
   * @param source the client's IP address: each has a share of the look-ups
   * @throws DomainError while the tenant is being moved, or the directory of cells is unavailable
   */
  routeOf(address: string, source: string): MaybePromise<CellRoute | undefined>;
  /** Like `routeOf`, after the cell that it returned has refused the request. */
  routeAgain(address: string, source: string): Promise<CellRoute | undefined>;
  /** Returns the cell that takes the next tenant; undefined if no cell takes tenants. */
  cellForNewTenant(): Promise<Omit<CellRoute, 'tenantId'> | undefined>;
}
