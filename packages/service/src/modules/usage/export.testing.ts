import type { ClickHouse } from '../../platform/clickhouse/index.js';

/** Passes queries on; tests can watch, fail and delay each of them. */
export class ChangedClickHouse {
  readonly #clickhouse: () => Pick<ClickHouse, 'query'>;
  asked = 0;
  signals: (AbortSignal | undefined)[] = [];
  /** Each query waits for it; called with the query's number from 1. */
  gate: (query: number) => Promise<void> | void = () => {};
  /** Changes each event of the response. */
  change: (event: Record<string, unknown>) => Record<string, unknown> = (event) => event;

  constructor(clickhouse: () => Pick<ClickHouse, 'query'>) {
    this.#clickhouse = clickhouse;
  }

  query: ClickHouse['query'] = async <Row>(...[sql, params, options]: Parameters<ClickHouse['query']>) => {
    this.asked += 1;
    this.signals.push(options?.signal);
    await this.gate(this.asked);
    const rows = await this.#clickhouse().query<Row>(sql, params, options);
    return rows.map((row) => ('status' in (row as object) ? (this.change(row as never) as Row) : row));
  };

  reset(): void {
    this.asked = 0;
    this.signals = [];
    this.gate = () => {};
    this.change = (event) => event;
  }
}
