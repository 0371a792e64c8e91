import type { ClickHouse, ClickHouseReader } from '../../../platform/clickhouse/index.js';

/** ClickHouse as streams query it; tests count, delay and fail its queries. */
export class WatchedClickHouse {
  asked = 0;
  /** Each query waits for it. */
  gate = async (): Promise<void> => {};

  /** Names of the tables that were brought up to date. */
  readonly fetched = new Set<string>();

  constructor(readonly clickhouse: ClickHouse) {}

  async upToDate(tables: readonly string[]): Promise<ClickHouseReader> {
    for (const table of tables) this.fetched.add(table);
    const reader = await this.clickhouse.upToDate(tables);
    return {
      query: async (sql, params, options) => {
        this.asked += 1;
        await this.gate();
        return reader.query(sql, params, options);
      },
      queryText: reader.queryText.bind(reader),
      exportRows: reader.exportRows.bind(reader),
      exportRowsUpTo: reader.exportRowsUpTo.bind(reader),
    };
  }
}
