import { ManualClock } from '../../kernel/clock.js';
import {
  correctedRows,
  createProject,
  createTestClickHouse,
  createTestPostgres,
  failedRow,
  insertCorrections,
  insertUsageRows,
  TestArchive,
  type TestClickHouse,
  type TestPostgres,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import { digestHistory } from './history-copy-store.js';
import { scopeOf } from './moving.js';
import { digestRows, readProjects } from './row-copy-store.js';
import { DepartingTenants } from './source.js';
import type { TableName } from './tables.js';
import { ArrivingTenants } from './target.js';
import { fillTables } from './tenant-rows.testing.js';

const ROWS = 30;
const PROCESSED_AT_MS = 1_750_000_000_000;

/** The stores of one cell. */
export interface TestCell {
  readonly store: TestPostgres;
  readonly history: TestClickHouse;
  readonly archived: TestArchive;
}

/** Two cells; the first has the tenant `ten_1` with rows in every table and history in both kinds of storage. */
export class TwoCells {
  readonly source: DepartingTenants;
  readonly target: ArrivingTenants;
  #batches = 0;

  private constructor(
    readonly a: TestCell,
    readonly b: TestCell,
  ) {
    this.source = new DepartingTenants(depsOf(a));
    this.target = new ArrivingTenants(depsOf(b), this.source);
  }

  static async open(): Promise<TwoCells> {
    const [a, b] = await Promise.all([openStores(), openStores()]);
    const cells = new TwoCells(a, b);
    await b.store.beside('alter table projects alter column no restart with 1000');
    await fillTables(a.store, 'ten_1', ROWS);
    await fillTables(a.store, 'ten_2', 2);
    const own = await createProject(a.store.postgres, 'ten_1', 'prj_own', 'dedicated');
    await a.history.provision(own.projectNo);
    await cells.addHistory('prj_ten_1_1', 40);
    await cells.addHistory('prj_own', 25);
    return cells;
  }

  async drop(): Promise<void> {
    for (const { store, history, archived } of [this.a, this.b])
      await Promise.all([store.drop(), history.drop(), archived.drop()]);
  }

  /**
   * Adds the events of one batch to the history of a project in the source: failed events, some of them
   * reprocessed, and corrected events.
   */
  async addHistory(projectId: string, count: number): Promise<void> {
    this.#batches += 1;
    const processedAtMs = PROCESSED_AT_MS + this.#batches * 1_000;
    const firstS = 1_740_000_000 + this.#batches * 90_000;
    const rows = Array.from({ length: count }, (_, at) => {
      const of = { tenantId: 'ten_1', projectId, occurredAt: firstS + at, processedAtMs };
      if (at % 7 === 3) return failedRow(of);
      return usageRow({ ...of, items: [usageItem(), usageItem({ metric: 'llm.calls' })] });
    });
    const later = rows
      .filter(({ status }) => status === 'failed')
      .slice(0, 2)
      .map((row) => ({
        ...row,
        status: 'processed' as const,
        attempt: 1,
        processedAtMs: processedAtMs + 500,
        items: [usageItem()],
      }));
    const project = (await projectsOf(this.a)).find(({ id }) => id === projectId);
    const table = project?.storage === 'dedicated' ? `usage_events_${project.no}` : 'usage_events';
    await insertUsageRows(this.a.history.clickhouse, rows, table);
    await insertUsageRows(this.a.history.clickhouse, later, table);
    const applied = { processedAtMs: processedAtMs + 700 };
    const corrections = rows
      .filter(({ status }) => status === 'processed')
      .slice(0, 2)
      .map((row, at) =>
        at === 0 ? voidedRows(row, applied) : correctedRows(row, { ...applied, items: [usageItem()] }),
      );
    await insertCorrections(this.a.history.clickhouse, corrections, table);
  }

  /** Copies until a pass is complete. */
  async copyAll(): Promise<void> {
    while (!(await this.target.copy('ten_1', 'm1', 1_000)).isPassComplete);
  }

  async freeze(moveId = 'm1'): Promise<void> {
    await this.source.drain('ten_1', moveId);
    if (!(await this.source.freeze('ten_1', moveId))) throw new Error('the tenant was not frozen');
  }
}

export function depsOf({ store, history, archived }: TestCell) {
  return {
    postgres: store.postgres,
    clickhouse: history.clickhouse,
    archive: archived.archive,
    clock: new ManualClock(PROCESSED_AT_MS),
  };
}

/** Runs a statement in the PostgreSQL of a cell. */
export function run({ store }: TestCell, sql: string) {
  return store.postgres.pool.query(sql);
}

/** Returns the digest of the tenant's rows in a table. */
export async function rowsIn(cell: TestCell, table: TableName) {
  const tenant = { tenantId: 'ten_1', projects: await projectsOf(cell) };
  return [table, await digestRows(cell.store.postgres.db, tenant, table)];
}

/** Returns the digests of the history of the tenant's projects. */
export async function historyIn(cell: TestCell) {
  const projects = await projectsOf(cell);
  return Promise.all(projects.map((each) => digestHistory(cell.history.clickhouse, scopeOf('ten_1', each))));
}

function projectsOf({ store }: TestCell) {
  return readProjects(store.postgres.db, 'ten_1');
}

async function openStores(): Promise<TestCell> {
  const [store, history, archived] = await Promise.all([
    createTestPostgres(),
    createTestClickHouse(),
    TestArchive.create(),
  ]);
  return { store, history, archived };
}
