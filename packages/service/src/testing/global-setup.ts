import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import {
  applyMigrations,
  connectPostgres,
  startTemporaryPostgres,
  temporaryFolder,
} from '../platform/postgres/index.js';
import { createClickHouseTemplate } from './clickhouse.js';
import { startClickHouseHttpServer } from './clickhouse-http-server.js';
import { endKeptProcesses, terminateKeptProcesses } from './kept-processes.js';
import type { TestStores } from './stores.js';

declare module 'vitest' {
  interface ProvidedContext {
    stores: TestStores;
    /** See `newScratchFolder`. */
    scratchFolder: string;
  }
}

/** Starts the stores once for the whole run; every test file then works in databases of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    for (const stop of stops.reverse()) await stop();
  };
  try {
    const scratch = makeScratchFolder();
    stops.push(scratch.remove);
    project.provide('scratchFolder', scratch.path);
    stops.push(useTemporaryFolder(scratch.path));
    stops.push(() => endKeptProcesses(scratch.path));
    const postgres = await startTemporaryPostgres();
    stops.push(() => postgres.stop());
    await migrateTemplate(postgres.connection);
    const clickhouse = await startClickHouseHttpServer();
    stops.push(() => clickhouse.stop());
    project.provide('stores', {
      postgres: postgres.connection,
      clickhouseUrl: clickhouse.url,
      clickhouseTemplate: await createClickHouseTemplate(clickhouse.url),
    });
    return stopAll;
  } catch (error) {
    await stopAll();
    throw error;
  }
}

function makeScratchFolder(): { readonly path: string; readonly remove: () => Promise<void> } {
  const path = mkdtempSync(join(temporaryFolder(), 'tollgate-tests-'));
  chmodSync(path, 0o711);
  const abandon = () => {
    try {
      terminateKeptProcesses(path);
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process still writes there; the other listeners must run anyway.
    }
  };
  process.once('exit', abandon);
  const remove = async () => {
    process.off('exit', abandon);
    rmSync(path, { recursive: true, force: true });
  };
  return { path, remove };
}

/**
 * Makes a folder the temporary folder of this process and of all that start from now on. Services synchronize every
 * commit, which takes milliseconds on a disk; memory keeps it too when a process is killed. Returns how to undo it.
 */
function useTemporaryFolder(path: string): () => Promise<void> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = path;
  return async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  };
}

/** Cloning a migrated database is many times faster than migrating a new one. */
async function migrateTemplate(connection: TestStores['postgres']): Promise<void> {
  const log = pino({ level: 'error' });
  const postgres = connectPostgres({ connection, applicationName: 'test-template', poolMax: 2, log });
  try {
    await applyMigrations(postgres);
  } finally {
    await postgres.close();
  }
}
