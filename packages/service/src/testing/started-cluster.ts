import { pino } from 'pino';
import { startEmbeddedPostgres } from '../platform/postgres/index.js';
import { sharedScratchFolder } from './scratch-folder.js';

/**
 * Returns a data directory with a cluster that was started once and stopped, which tests copy: to create one takes a
 * second of processor time.
 */
export function startedCluster(): Promise<string> {
  return sharedScratchFolder('started-cluster', async (dataDir) => {
    const settings = { fsync: 'off' };
    const server = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }), settings });
    await server.stop();
  });
}
