import type { RebuildReport, RepairReport } from '@tollgate/contract';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { type RebuildOptions, rebuildHistory, repairHistory } from '../modules/rebuild/index.js';
import { exitOnSignal } from './signals.js';
import { doTask } from './with-stores.js';

/** `tollgate rebuild`: rebuilds the whole history in ClickHouse from the archive. */
export async function rebuild(config: Config, options: RebuildOptions): Promise<number> {
  exitOnSignal();
  const { blocks, events } = await doTask<RebuildReport>(config, {
    run: (stores, log) => rebuildHistory({ ...stores, clock: systemClock, log }, options),
    path: '/admin/v1/rebuild',
    body: options,
  });
  console.log(`The history was rebuilt: ${events} events from ${blocks} objects. Run tollgate verify.`);
  return 0;
}

/** `tollgate repair`: replaces those months in which ClickHouse differs from PostgreSQL. */
export async function repair(config: Config, options: RebuildOptions): Promise<number> {
  exitOnSignal();
  const { months, events } = await doTask<RepairReport>(config, {
    run: (stores, log) => repairHistory({ ...stores, clock: systemClock, log }, options),
    path: '/admin/v1/repair',
    body: options,
  });
  console.log(
    months === 0
      ? 'The sums of no day differ. If tollgate verify still finds differences, run tollgate rebuild.'
      : `Months that were replaced: ${months}, with ${events} events. Run tollgate verify.`,
  );
  return 0;
}
