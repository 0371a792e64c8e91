import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { applyMigrations, connectPostgres, startTemporaryPostgres } from '../platform/postgres/index.js';
import type { TestStores } from './stores.js';

declare module 'vitest' {
  interface ProvidedContext {
    stores: TestStores;
  }
}

/** Starts the stores once for the whole run; every test file then works in databases of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTemporaryPostgres();
  try {
    await migrateTemplate(postgres.connection);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  project.provide('stores', { postgres: postgres.connection });
  return () => postgres.stop();
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
