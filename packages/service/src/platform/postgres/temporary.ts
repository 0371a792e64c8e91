import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';

/** A file system in memory: a cluster is a thousand files, and disks are slow at creating and deleting so many. */
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES_MIN = 2 * 1_024 ** 3;

/**
 * Starts a cluster in a temporary folder that `stop` deletes, for tests and generators. It does not fsync, which would
 * only slow down data that nobody keeps; it says nothing about crash safety.
 */
export function startTemporaryPostgres(): Promise<EmbeddedPostgres> {
  return startIn(temporaryFolder());
}

/** Returns a folder for clusters that nobody keeps: in memory, where there is room. */
export function temporaryFolder(): string {
  return hasRoom(MEMORY_FOLDER) && runsPrograms(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

/**
 * Whether programs can run from a folder. PostgreSQL's programs are copied to the cluster when its account cannot read
 * the package; containers often mount memory without permission to run programs from it.
 */
function runsPrograms(folder: string): boolean {
  let own: string | undefined;
  try {
    own = mkdtempSync(join(folder, 'tollgate-probe-'));
    const program = join(own, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    return true;
  } catch {
    return false;
  } finally {
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  }
}

async function startIn(folder: string): Promise<EmbeddedPostgres> {
  const dataDir = mkdtempSync(join(folder, 'tollgate-postgres-'));
  // Otherwise root's cluster would be placed outside it.
  chmodSync(dataDir, 0o711);
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    shared_buffers: '128MB',
    // Several tests with several services each use it at the same time.
    max_connections: '300',
  };
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  try {
    const server = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'error' }), settings });
    // An interrupted run leaves neither a server nor its files behind.
    const abandon = () => {
      try {
        process.kill(server.pid, 'SIGKILL');
      } catch {
        // It has ended already. An error here would hide the one that ends this process.
      }
      remove();
    };
    process.once('exit', abandon);
    const stop = async () => {
      process.off('exit', abandon);
      await server.stop();
      remove();
    };
    return { ...server, stop };
  } catch (error) {
    remove();
    throw error;
  }
}
