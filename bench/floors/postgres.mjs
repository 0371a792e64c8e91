// Floor: durable inserts of bytes into the embedded PostgreSQL, 1,000 events a row, as the usage queue does it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../packages/service/dist/platform/postgres/index.js';
import { EVENT_BYTES } from '../events.mjs';

const EVENTS_PER_ROW = 1_000;
const CONNECTIONS = 2;
const quiet = { info() {}, warn: console.warn, error: console.error };

process.once('message', async ({ seconds }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-postgres-'));
  // Otherwise root's cluster would be placed outside it, and stay.
  chmodSync(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir, log: quiet });
  const pool = new pg.Pool({ ...postgres.connection, max: CONNECTIONS });
  // At the end the server may be gone before it has read that the connections are.
  pool.on('error', () => {});
  try {
    await pool.query(
      'create table floor (id bigint generated always as identity primary key, bytes bytea not null)',
    );
    await pool.query('alter table floor alter column bytes set storage external');
    const bytes = Buffer.alloc(EVENTS_PER_ROW * EVENT_BYTES, 'abcdefghijklmnopqrstuvwxyz');
    const startMs = performance.now();
    const endMs = startMs + seconds * 1000;
    let rows = 0;
    const insert = async () => {
      while (performance.now() < endMs) {
        await pool.query('insert into floor (bytes) values ($1)', [bytes]);
        rows += 1;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, insert));
    const eventsPerSecond = (rows * EVENTS_PER_ROW * 1000) / (performance.now() - startMs);
    process.send({ eventsPerSecond });
  } finally {
    await pool.end();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.disconnect();
});
