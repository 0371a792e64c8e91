import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { syncFolder } from '../sync-folder.js';
import { type PostgresBinaries, PostgresUnavailableError } from './binaries.js';
import type { ClusterPlacement } from './placement.js';

export const SUPERUSER = 'tollgate';
const INITDB_TIMEOUT_MS = 120_000;

/** The environment of the server programs: nothing of the service's own, and no locale. */
export const SERVER_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as const;

/** Creates the cluster unless it exists. It is durable on return; when interrupted, the next start creates it again. */
export async function ensureCluster(placement: ClusterPlacement, binaries: PostgresBinaries): Promise<void> {
  if (existsSync(placement.clusterFolder)) return assertVersion(placement.clusterFolder, binaries);
  const workFolder = join(placement.baseFolder, 'cluster.partial');
  await rm(workFolder, { recursive: true, force: true });
  await mkdir(workFolder, { mode: 0o700 });
  await rm(placement.passwordFile, { force: true });
  await writeFile(placement.passwordFile, randomBytes(24).toString('base64url'), {
    mode: 0o600,
    flush: true,
  });
  if (placement.account !== undefined) {
    const { uid, gid } = placement.account;
    await chown(workFolder, uid, gid);
    await chown(placement.passwordFile, uid, gid);
  }
  await runInitdb(workFolder, placement, binaries);
  await rename(workFolder, placement.clusterFolder);
  // A power failure must not lose the cluster's name: it would be initialised again, over committed data.
  for (const folder of [placement.baseFolder, dirname(placement.baseFolder)]) await syncFolder(folder);
}

/** Returns the superuser's password; only PostgreSQL's account and root can read the file. */
export function readPassword(placement: Pick<ClusterPlacement, 'passwordFile'>): string {
  return readFileSync(placement.passwordFile, 'utf8');
}

async function runInitdb(
  folder: string,
  placement: ClusterPlacement,
  binaries: PostgresBinaries,
): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${placement.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts by bytes, as locale C does, but knows the upper and lower case of every script.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    // One call for the whole file system instead of one fsync for each of a thousand files.
    ...(process.platform === 'linux' ? ['--sync-method=syncfs'] : []),
  ];
  const { account } = placement;
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  const child = spawn(binaries.initdb, options, {
    ...identity,
    cwd: '/',
    env: SERVER_ENV,
    timeout: INITDB_TIMEOUT_MS,
    // Detached, as the server is: the terminal's Ctrl-C must not end it half-way.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const killAtExit = () => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  try {
    const [output, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    if (code !== 0) throw new Error(output.trim() || `it ended with ${signal ?? `exit code ${code}`}`);
  } catch (error) {
    throw new PostgresUnavailableError(`PostgreSQL's initdb failed: ${(error as Error).message}`);
  } finally {
    process.off('exit', killAtExit);
  }
}

function assertVersion(clusterFolder: string, binaries: PostgresBinaries): void {
  const version = readFileSync(join(clusterFolder, 'PG_VERSION'), 'utf8').trim();
  if (version !== binaries.majorVersion) {
    throw new PostgresUnavailableError(
      `The data in ${clusterFolder} is of PostgreSQL ${version}, but this release runs PostgreSQL ${binaries.majorVersion}.`,
    );
  }
}
