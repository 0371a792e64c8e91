import type { Logger } from '../../platform/log/index.js';
import { markUnserved } from '../tenancy/index.js';
import { type CellOptions, OwnCell } from './cell.js';
import * as directory from './directory-store.js';
import { confineNumbers } from './number-store.js';
import type { TenantPlace } from './place-store.js';
import { countServed, readRegistrations } from './registration-store.js';

const REGISTRATIONS_AT_ONCE = 500;

/** This process cannot join the cell that its settings name; the message is for the operator. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

export interface JoinOptions extends CellOptions {
  readonly log: Pick<Logger, 'warn'>;
  /** Whether to upgrade the tables of the directory; otherwise they are only checked. */
  readonly migrate: boolean;
  readonly nowMs: () => number;
}

/**
 * Joins this installation to its cell: confines its numbers, and registers its tenants. The directory must know the
 * cell.
 *
 * @throws CellError, or MigrationError if this release does not work with the directory
 */
export async function joinCell(options: JoinOptions): Promise<OwnCell> {
  const { directory: database, postgres, name } = options;
  if (options.migrate) await directory.migrateDirectory(database, options.log);
  else await directory.checkDirectory(database);
  const cell = await directory.findCell(database, name);
  if (cell === undefined) {
    throw new CellError(
      `The directory has no cell "${name}". Add it with: tollgate cell add ${name} --url URL.`,
    );
  }
  const foreign = await confineNumbers(postgres, cell.number);
  if (foreign !== undefined) {
    throw new CellError(
      `The table ${foreign.table} has given out the number ${foreign.last}, which is outside the range of cell "${name}" (number ${cell.number}). Only cell number 0 may have projects or limits before it is added.`,
    );
  }
  await registerTenants(options);
  return new OwnCell(options);
}

/** Registers tenants that the installation had before it was a cell, and those that a restored directory has lost. */
async function registerTenants(options: JoinOptions): Promise<void> {
  const { directory: database, postgres, name } = options;
  const [here, there] = [await countServed(postgres), await directory.countRegistered(database, name)];
  // A failed creation leaves a surplus address in the directory: the counts differ, and registering changes nothing.
  if (here.tenants === there.tenants && here.addresses === there.addresses) return;
  for (let afterId = ''; ; ) {
    const registrations = await readRegistrations(postgres, afterId, REGISTRATIONS_AT_ONCE);
    const last = registrations.at(-1);
    if (last === undefined) return;
    for (const place of await directory.registerExisting(database, name, registrations)) {
      await yieldTenant(options, place);
    }
    afterId = last.tenantId;
  }
}

/**
 * Stops serving a tenant that is in another cell according to the directory: this database is older than the tenant's
 * move. A tenant that is being moved is not changed.
 */
async function yieldTenant(
  { postgres, name, log, nowMs }: JoinOptions,
  { tenantId, cell, state }: TenantPlace,
): Promise<void> {
  if (cell === name || state !== 'active') return;
  log.warn({ tenantId, cell }, 'a tenant of this database is in another cell and is not served here');
  await markUnserved(postgres.db, tenantId, nowMs());
}
