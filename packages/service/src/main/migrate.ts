import type { Config } from '../config.js';
import { createLog } from '../platform/log/index.js';
import { prepareDataDir } from './data-dir.js';
import { withInstanceLock } from './instance.js';
import { exitOnSignal } from './signals.js';
import { openStores } from './stores.js';

/** `tollgate migrate`: brings both stores to this release's schema, says what it did, and ends. */
export async function migrate(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel });
  exitOnSignal();
  prepareDataDir(config.dataDir);
  return withInstanceLock(config, async () => {
    const onUnexpectedExit = (reason: string) => log.error(reason);
    const stores = await openStores(config, { log, onProgress: (step) => log.info(step), onUnexpectedExit });
    await stores.close();
    const { applied } = stores;
    console.log(applied.length === 0 ? 'Both stores are up to date.' : `Applied ${applied.join(', ')}.`);
    return 0;
  });
}
