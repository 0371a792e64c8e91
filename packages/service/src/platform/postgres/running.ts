import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readPassword, SUPERUSER } from './cluster.js';
import { DATABASE, type PostgresConnection } from './embedded.js';
import { existingFolders } from './placement.js';

/** Line numbers in the file that describes PostgreSQL's running server. */
const PORT_LINE = 3;
const SOCKET_FOLDER_LINE = 4;

/**
 * Returns how to reach the embedded server that a running service has started on a data directory; undefined when none
 * runs. Unlike `startEmbeddedPostgres`, it changes nothing.
 */
export function runningEmbeddedPostgres(dataDir: string): PostgresConnection | undefined {
  if (!existsSync(dataDir)) return undefined;
  const folders = existingFolders(realpathSync(dataDir));
  const pidFile = join(folders.clusterFolder, 'postmaster.pid');
  if (!existsSync(pidFile)) return undefined;
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  const host = lines[SOCKET_FOLDER_LINE] ?? '';
  const port = Number(lines[PORT_LINE]);
  if (host === '' || !Number.isSafeInteger(port)) return undefined;
  return { host, port, user: SUPERUSER, password: readPassword(folders), database: DATABASE };
}
