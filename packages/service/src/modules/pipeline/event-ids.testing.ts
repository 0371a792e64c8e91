import { DAY_S } from '@tollgate/timezone';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { createLog } from '../../platform/log/index.js';
import { createMetrics } from '../../platform/metrics/index.js';
import { transaction } from '../../platform/postgres/index.js';
import {
  createProject,
  createTestPostgres,
  type TestPostgres,
  type TestProject,
} from '../../testing/index.js';
import { BLOCK_IDS_MAX } from './event-id-block-store.js';
import { createEventIdCompactionJob, type EventIdCompactionOptions } from './event-id-compaction.js';
import { EventIds, type EventKey } from './event-id-store.js';

export const NOW_S = 1_750_000_000;
export const OLD_S = NOW_S - 30 * DAY_S;
const log = createLog({ level: 'silent' });

export let store: TestPostgres;
export let project: TestProject;
export let other: TestProject;
export let clock: ManualClock;

/** Gives the tests of one file a database, which is empty before each of them. */
export function useEventIds(): void {
  beforeAll(async () => {
    store = await createTestPostgres();
    project = await createProject(store.postgres, 'ten_a', 'prj_a');
    other = await createProject(store.postgres, 'ten_b', 'prj_b');
  });
  beforeEach(async () => {
    clock = new ManualClock(NOW_S * 1_000);
    await store.postgres.pool.query(
      `delete from usage_event_ids; delete from usage_event_id_blocks;
       update event_id_compaction set compacted_before = 0, due_at_ms = 0, swept_at_ms = null`,
    );
  });
  afterAll(() => store.drop());
}

const hexOf = (atS: number, n: number): string => atS.toString(16) + n.toString(16).padStart(24, '0');
export const key = (atS: number, n: number, { projectNo } = project): EventKey => ({
  projectNo,
  idHex: hexOf(atS, n),
});
export const keysOf = (count: number, fromS = OLD_S, of = project): EventKey[] =>
  Array.from({ length: count }, (_, n) => key(fromS + n, n, of));

export const job = (options: EventIdCompactionOptions = {}, metrics = createMetrics()) =>
  createEventIdCompactionJob(
    { postgres: store.postgres, clock, log, metrics },
    { stepPauseMs: 0, ...options },
  );

/** Sweeps at once, although the last sweep was a moment ago. */
export async function sweep(options: EventIdCompactionOptions = {}, signal?: AbortSignal): Promise<number> {
  await store.postgres.pool.query('update event_id_compaction set due_at_ms = 0');
  return job(options).sweep(signal);
}

/** Records ids in a transaction of its own; returns the repeated ones. */
export const record = (keys: readonly EventKey[], ids = new EventIds()): Promise<Set<EventKey>> =>
  transaction(store.postgres, (tx) => ids.record(tx, keys, 0));

export async function query<Row>(sql: string, params: unknown[] = []): Promise<Row[]> {
  return (await store.postgres.pool.query(sql, params)).rows as Row[];
}

export async function looseOf({ projectNo } = project): Promise<string[]> {
  const rows = await query<{ id: string }>(
    `select encode(uuid_send(raw_event_id), 'hex') as id from usage_event_ids where project_no = $1 order by 1`,
    [projectNo],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of each block, as the blocks are ordered. */
export async function blocksOf({ projectNo } = project): Promise<string[][]> {
  const rows = await query<{ ids: string }>(
    'select array_to_string(ids, $2) as ids from usage_event_id_blocks where project_no = $1 order by first_id',
    [projectNo, ','],
  );
  return rows.map(({ ids }) => ids.replaceAll('-', '').split(','));
}

/** Expects every id once, loose or in a block; blocks must be full enough, sorted, and must not overlap. */
export async function expectRecorded(expected: Iterable<string>, of = project): Promise<void> {
  const blocks = await blocksOf(of);
  const inBlocks = blocks.flat();
  expect(inBlocks).toEqual([...inBlocks].sort());
  expect(Math.max(0, ...blocks.map(({ length }) => length))).toBeLessThanOrEqual(BLOCK_IDS_MAX);
  expect([...(await looseOf(of)), ...inBlocks].sort()).toEqual([...expected].sort());
}

/** Returns whether a statement that contains this text waits for a lock. */
export async function isWaiting(statement: string): Promise<boolean> {
  const rows = await query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $1 || '%'`,
    [statement],
  );
  return rows.length > 0;
}

export async function compactors(): Promise<number> {
  const rows = await query(
    `select from pg_stat_activity where datname = current_database() and application_name = 'compaction'`,
  );
  return rows.length;
}

/** Returns how another process connects to the database of this test. */
export function connection() {
  const { hostname, port, username, password, pathname, searchParams } = new URL(store.connectionString);
  const host = searchParams.get('host') ?? hostname;
  return { host, port: Number(port), user: username, password, database: pathname.slice(1) };
}
