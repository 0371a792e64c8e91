import { randomUUID } from 'node:crypto';
import { DAY_S } from '@tollgate/timezone';
import { type ClickHouse, columnList, identifier } from '../../platform/clickhouse/index.js';
import { SHARED_TABLES } from '../storage/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';
import type { KeptFrom } from './block-store.js';

/** The day of a row, as days since 1970. */
const DAY = `intDiv(toUnixTimestamp(occurred_at), ${DAY_S})`;

type Engine = Pick<ClickHouse, 'command' | 'insertRows' | 'upToDate'>;

/**
 * Holds the rows of one block while they are filtered. Each process has its own, in case it has lost the lock of the
 * archive.
 */
const SCRATCH_TABLE = `archive_scratch_${randomUUID().replaceAll('-', '')}`;
const COLUMNS = columnList(USAGE_EVENT_COLUMNS);

/** Which rows are kept: those of all projects, except the rows of some projects before a day. */
export type KeptRows = readonly KeptFrom[];

/** The rows that a filter has kept. */
export interface FilteredRows {
  readonly rows: Buffer;
  readonly eventCount: number;
  readonly projectIds: readonly string[];
  /** The first day of each project, as days since 1970. */
  readonly firstDays: readonly number[];
  readonly lastDay: number;
}

/**
 * Calls `work` while the rows of a block are in a table of their own. ClickHouse filters them, because it knows their
 * format.
 */
export async function withScratchTable<T>(
  clickhouse: Engine,
  { rows, eventCount }: { readonly rows: Buffer; readonly eventCount: number },
  work: (table: string) => Promise<T>,
): Promise<T> {
  await dropOldScratchTables(clickhouse);
  await clickhouse.command(
    // Both keys are named, because a primary key that is not named would be that of the other table.
    `CREATE TABLE ${SCRATCH_TABLE} AS ${SHARED_TABLES.events} ENGINE = MergeTree PRIMARY KEY tuple() ORDER BY tuple()`,
  );
  try {
    await clickhouse.insertRows(SCRATCH_TABLE, USAGE_EVENT_COLUMNS, { bytes: rows }, eventCount, 'archive');
    return await work(SCRATCH_TABLE);
  } finally {
    await dropScratchTable(clickhouse);
  }
}

/** Returns the rows of a block that are kept; undefined if none is. */
export function filterRows(
  clickhouse: Engine,
  block: { readonly rows: Buffer; readonly eventCount: number },
  kept: KeptRows,
): Promise<FilteredRows | undefined> {
  const condition = `${DAY} >= transform(toString(project_id), {projects:Array(String)}, {days:Array(UInt32)}, 0)`;
  const params = { projects: kept.map(({ projectId }) => projectId), days: kept.map(({ day }) => day) };
  return withScratchTable(clickhouse, block, async (table) => {
    // Rows that are not found would be lost.
    const reader = await clickhouse.upToDate([table]);
    const found = await reader.query<{ id: string; all: string; kept: string; first: number; last: number }>(
      `SELECT project_id AS id, count() AS all, countIf(${condition}) AS kept,
         toUInt32(minIf(${DAY}, ${condition})) AS first, toUInt32(maxIf(${DAY}, ${condition})) AS last
       FROM ${table} GROUP BY id ORDER BY id`,
      params,
    );
    const all = found.reduce((sum, project) => sum + Number(project.all), 0);
    if (all !== block.eventCount) {
      throw new Error(`a block of ${block.eventCount} rows has ${all} rows in ${table}`);
    }
    const projects = found.filter((project) => Number(project.kept) > 0);
    if (projects.length === 0) return undefined;
    return {
      rows: await reader.exportRows(`SELECT ${COLUMNS} FROM ${table} WHERE ${condition}`, params),
      eventCount: projects.reduce((sum, project) => sum + Number(project.kept), 0),
      projectIds: projects.map(({ id }) => id),
      firstDays: projects.map(({ first }) => first),
      lastDay: Math.max(...projects.map(({ last }) => last)),
    };
  });
}

async function dropScratchTable(clickhouse: Engine, table = SCRATCH_TABLE): Promise<void> {
  await clickhouse.command(`DROP TABLE IF EXISTS ${identifier(table)} SYNC`);
}

/** Drops the table of this process, and those that processes left behind when they were killed. */
async function dropOldScratchTables(clickhouse: Engine): Promise<void> {
  const reader = await clickhouse.upToDate([]);
  const old = await reader.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'archive_scratch_')
       AND (name = {own:String} OR metadata_modification_time < now() - INTERVAL 1 DAY)`,
    { own: SCRATCH_TABLE },
  );
  for (const { name } of old) await dropScratchTable(clickhouse, name);
}
