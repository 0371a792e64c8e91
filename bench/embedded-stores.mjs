// Embedded stores of one benchmark, in a temporary folder, with the schema of this build.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  applyClickHouseMigrations,
  openEmbeddedClickHouse,
} from '../packages/service/dist/platform/clickhouse/index.js';
import {
  applyMigrations,
  connectPostgres,
  startEmbeddedPostgres,
} from '../packages/service/dist/platform/postgres/index.js';

const log = { info() {}, warn: console.warn, error: console.error };

/**
 * Opens PostgreSQL and, with `withClickHouse`, ClickHouse. `close` ends both and deletes the folder; the embedded
 * ClickHouse keeps the process alive all the same.
 */
export async function openEmbeddedStores({ poolMax, withClickHouse }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  // PostgreSQL may run under another account, and must reach its folder.
  await chmod(dataDir, 0o711);
  const server = await startEmbeddedPostgres({ dataDir, log });
  const { connection } = server;
  const postgres = connectPostgres({ connection, applicationName: 'bench', poolMax, log });
  let clickhouse;
  const close = async () => {
    await clickhouse?.close();
    await postgres.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    if (withClickHouse) clickhouse = await openEmbeddedClickHouse({ dataDir: join(dataDir, 'clickhouse') });
    await applyMigrations(postgres);
    if (withClickHouse) await applyClickHouseMigrations(clickhouse);
  } catch (error) {
    await close();
    throw error;
  }
  return { dataDir, connection, serverPid: server.pid, postgres, clickhouse, close };
}
