import type { Config } from '../config.js';
import { createLog } from '../platform/log/index.js';
import { exitOnSignal } from './signals.js';
import { withStores } from './with-stores.js';

/**
 * `tollgate migrate`: upgrades both stores to this release's schema, prints what it did, and ends. It does so with any
 * `TOLLGATE_MIGRATE`.
 */
export async function migrate(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel });
  exitOnSignal();
  const applied = await withStores({ ...config, migrate: true }, log, async (stores) => stores.applied);
  console.log(applied.length === 0 ? 'Both stores are up to date.' : `Applied ${applied.join(', ')}.`);
  return 0;
}
