import { sql } from 'kysely';
import type { Db } from '../../platform/postgres/index.js';
import { SHARED_TABLES, type StorageTables, storageTables } from './tables.js';

/** A project that has tables of its own. */
export interface OwnTables extends StorageTables {
  readonly projectId: string;
  readonly projectNo: number;
}

/** A source with the rows of all projects, each in the tables where they belong. */
export interface EverySource {
  /** The text after FROM. */
  readonly from: string;
  /** A condition that holds for rows in the tables of their project; rows elsewhere belong to nobody. */
  readonly inPlace: string;
}

export interface EveryHistory {
  readonly events: EverySource;
  readonly rollup: EverySource;
  /** Parameters of the conditions. */
  readonly params: Readonly<Record<string, readonly string[]>>;
}

/** Returns all projects that have tables of their own now. */
export async function projectsWithOwnTables(db: Db): Promise<OwnTables[]> {
  const { rows } = await sql<{ id: string; no: number }>`
    select id, no from projects where storage = 'dedicated' order by no
  `.execute(db);
  return rows.map(({ id, no }) => ({
    projectId: id,
    projectNo: no,
    ...storageTables({ storage: 'dedicated', projectNo: no }),
  }));
}

/** Returns the names of all tables with usage. */
export function everyTable(own: readonly OwnTables[]): string[] {
  return [SHARED_TABLES, ...own].flatMap(({ events, rollup }) => [events, rollup]);
}

/** Returns the source from which the usage of all projects is read. */
export function everyHistory(own: readonly OwnTables[]): EveryHistory {
  if (own.length === 0) {
    const all = (from: string) => ({ from, inPlace: 'true' });
    return { events: all(SHARED_TABLES.events), rollup: all(SHARED_TABLES.rollup), params: {} };
  }
  const source = (kind: keyof StorageTables): EverySource => ({
    from: `merge(currentDatabase(), '^${SHARED_TABLES[kind]}(_[0-9]+)?$')`,
    inPlace: `_table = transform(toString(project_id), {own:Array(String)}, {own_${kind}:Array(String)}, '${SHARED_TABLES[kind]}')`,
  });
  return {
    events: source('events'),
    rollup: source('rollup'),
    params: {
      own: own.map(({ projectId }) => projectId),
      own_events: own.map(({ events }) => events),
      own_rollup: own.map(({ rollup }) => rollup),
    },
  };
}
