import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/id.js';
import { CellStepError, MoveDriver, TenantMoveError } from '../modules/moves/index.js';
import { withDirectory } from './cell-commands.js';
import { StartError } from './start-error.js';

/** The minimum time for which the rows in the old cell are kept after a move. */
const GRACE_MS = 24 * 3_600_000;

/** `tollgate tenant move TENANT CELL`, and `tollgate tenant move TENANT --abort` */
export function moveTenantTo(
  config: Config,
  tenantId: string,
  cell: string | undefined,
  isAbort = false,
): Promise<number> {
  if (isAbort === (cell !== undefined)) {
    throw new StartError('tollgate tenant move needs either CELL or --abort.');
  }
  return drive(config, (driver) =>
    cell === undefined ? driver.abort(tenantId) : driver.move(tenantId, cell),
  );
}

/** `tollgate tenant remove-copy TENANT [--now]` */
export function removeCopy(config: Config, tenantId: string, isNow = false): Promise<number> {
  return drive(config, (driver) => driver.removeLeft(tenantId, isNow ? 0 : GRACE_MS));
}

function drive(config: Config, work: (driver: MoveDriver) => Promise<void>): Promise<number> {
  const { serviceKey } = config;
  if (serviceKey === undefined) {
    throw new StartError('Set TOLLGATE_SERVICE_KEY, which must be the same in all cells.');
  }
  return withDirectory(config, async (directory) => {
    const driver = new MoveDriver({
      directory,
      serviceKey,
      onProgress: (line) => console.log(line),
      pause: (ms) => delay(ms),
      newMoveId: () => newId('mov', systemClock),
      nowMs: () => performance.now(),
    });
    try {
      await work(driver);
      return 0;
    } catch (error) {
      const isExpected = error instanceof TenantMoveError || error instanceof CellStepError;
      throw isExpected ? new StartError(error.message) : error;
    }
  });
}
