import type { CellPort, CellRoute } from '../../kernel/cells.js';
import { DomainError } from '../../kernel/errors.js';
import { type MaybePromise, whenReady } from '../../kernel/maybe-promise.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { isServed, type TenantRegister } from '../tenancy/index.js';
import * as directory from './directory-store.js';
import { RouteCache, sourceOf } from './route-cache.js';

export interface CellOptions {
  /** The database of the directory. */
  readonly directory: Postgres;
  /** The database of this cell. */
  readonly postgres: Postgres;
  /** The name of this cell. */
  readonly name: string;
  /** A clock that never goes back; measures the age of cached look-ups. */
  readonly monotonicMs?: () => number;
}

/** This installation as a cell. It knows the other cells from the directory. */
export class OwnCell implements CellPort, TenantRegister {
  readonly name: string;
  readonly #options: CellOptions;
  readonly #routes: RouteCache;

  constructor(options: CellOptions) {
    const { monotonicMs = () => performance.now() } = options;
    this.name = options.name;
    this.#options = options;
    this.#routes = new RouteCache({
      lookUp: (address) => directory.findTenantRoute(options.directory, address),
      cellName: options.name,
      nowMs: monotonicMs,
    });
  }

  servesTenant(tenantId: string): Promise<boolean> {
    return isServed(this.#options.postgres.db, tenantId);
  }

  routeOf(address: string, source: string): MaybePromise<CellRoute | undefined> {
    return whenReady(this.#routes.get(address, sourceOf(source)), passable);
  }

  async routeAgain(address: string, source: string): Promise<CellRoute | undefined> {
    return passable(await this.#routes.getAgain(address, sourceOf(source)));
  }

  async cellForNewTenant(): Promise<Omit<CellRoute, 'tenantId'> | undefined> {
    const cell = await reached(directory.chooseCell(this.#options.directory));
    return cell && { cell: cell.name, url: cell.url };
  }

  /** @throws DomainError `cell_draining`; `directory_unavailable` */
  async addTenant(tenantId: string): Promise<void> {
    const isTaken = await reached(directory.insertTenantOf(this.#options.directory, this.name, tenantId));
    if (!isTaken) throw new DomainError('cell_draining');
  }

  /** @throws DomainError `directory_unavailable` */
  addProject(tenantId: string, projectId: string): Promise<void> {
    return reached(directory.insertAddress(this.#options.directory, projectId, tenantId));
  }

  /** @throws DomainError `directory_unavailable` */
  addKey(tenantId: string, keyHash: Buffer): Promise<void> {
    return reached(directory.insertAddress(this.#options.directory, keyHash.toString('hex'), tenantId));
  }
}

/** @throws DomainError `tenant_moving` when no cell serves the tenant at this moment */
function passable(route: directory.TenantRoute | undefined): CellRoute | undefined {
  if (route?.state === 'frozen') throw new DomainError('tenant_moving');
  return route && { cell: route.cell, url: route.url, tenantId: route.tenantId };
}

/** @throws DomainError `directory_unavailable` in place of any error of the directory's database */
async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new DomainError('directory_unavailable', { cause });
  }
}
