import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Postgres } from '../postgres/index.js';

/** Larger than a page of a table or a block of a file, so that it never fits into the last free one on a full disk. */
const PROBE_BYTES = 16 * 1_024;
/** Timeout of each statement on the server, so that a waiting probe ends soon. */
const STATEMENT_TIMEOUT_MS = 1_000;
/** Longer than the server needs to report its own timeout. */
const PROBE_TIMEOUT_MS = 1_800;
const PROBE_FILE = 'probe';

/** Several statements without parameters are one transaction, in one message. No other session ever sees the row. */
const PROBE = `set local statement_timeout = ${STATEMENT_TIMEOUT_MS};
insert into segments (received_at_ms, event_count, project_ids, project_event_counts, byte_count, bytes)
  values (0, 1, '{}', '{}', ${PROBE_BYTES}, decode(repeat('00', ${PROBE_BYTES}), 'hex'));
delete from segments where id = lastval()`;

/**
 * Proves that segments can be appended to the queue: inserts a row into its table, deletes it in the same transaction,
 * and commits, as an append does. Throws PostgreSQL's error when that is not possible.
 */
export async function probeQueue({ pool }: Pick<Postgres, 'pool'>): Promise<void> {
  // `query_timeout` is a field of pg's queries that its types leave out.
  const query = { text: PROBE, query_timeout: PROBE_TIMEOUT_MS };
  await pool.query(query);
}

/**
 * Proves that large segments can be stored in the folder: writes and syncs a file there, and deletes it. Throws the
 * system's error when that is not possible.
 */
export async function probeSegmentFolder(folder: string): Promise<void> {
  const file = join(folder, PROBE_FILE);
  try {
    // Random bytes, which no file system can compress.
    await writeFile(file, randomBytes(PROBE_BYTES), { flush: true, mode: 0o600 });
  } finally {
    await rm(file, { force: true });
  }
}
