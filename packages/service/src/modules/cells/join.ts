import type { Logger } from '../../platform/log/index.js';
import { markUnserved } from '../tenancy/index.js';
import { type CellOptions, OwnCell } from './cell.js';
import * as directory from './directory-store.js';
import { confineNumbers } from './number-store.js';
import type { TenantPlace } from './place-store.js';
import { countServed, readRegistrations } from './registration-store.js';

const REGISTRATIONS_AT_ONCE = 500;

/** This process cannot be part of the cell that its settings name; the message is one sentence for the operator. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

export interface JoinOptions extends CellOptions {
  readonly log: Pick<Logger, 'warn'>;
  readonly nowMs: () => number;
}

/**
 * Joins this installation to its cell: confines its numbers, and registers its tenants. The directory must know the
 * cell.
 *
 * @throws CellError
 */
export async function joinCell(options: JoinOptions): Promise<OwnCell> {
  const { directory: database, postgres, name } = options;
  await directory.migrateDirectory(database);
  const cell = await directory.findCell(database, name);
  if (cell === undefined) {
    throw new CellError(`The directory has no cell "${name}". Add it: tollgate cell add ${name} --url URL.`);
  }
  const foreign = await confineNumbers(postgres, cell.number);
  if (foreign !== undefined) {
    throw new CellError(
      `The table ${foreign.table} has given out the number ${foreign.last}, which is not one of cell "${name}" (number ${cell.number}): only a cell with the number 0 may have projects before it is added.`,
    );
  }
  await registerTenants(options);
  return new OwnCell(options);
}

/** Registers tenants from before the installation was a cell, and what a restored directory has lost. */
async function registerTenants(options: JoinOptions): Promise<void> {
  const { directory: database, postgres, name } = options;
  const [here, there] = [await countServed(postgres), await directory.countRegistered(database, name)];
  // A failed creation leaves an address more in the directory, which costs a registration that changes nothing.
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
 * Stops serving a tenant that the directory has in another cell: this database is older than its move. A tenant that is
 * being moved is left to its move.
 */
async function yieldTenant(
  { postgres, name, log, nowMs }: JoinOptions,
  { tenantId, cell, state }: TenantPlace,
): Promise<void> {
  if (cell === name || state !== 'active') return;
  log.warn({ tenantId, cell }, 'a tenant of this database is in another cell and is not served here');
  await markUnserved(postgres.db, tenantId, nowMs());
}
