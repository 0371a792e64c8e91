import { isServerLost } from './errors.js';
import type {
  BlockData,
  ClickHouse,
  ClickHouseReader,
  ConfirmInsert,
  QueryOptions,
  QueryParams,
  SystemTable,
} from './port.js';

/**
 * The replicas of a cluster, one of which is used until it fails. A call that could not reach it is repeated with the
 * next one: every statement can be repeated, because inserts have tokens.
 */
export class FailoverClickHouse implements ClickHouse {
  readonly #replicas: readonly ClickHouse[];
  #used = 0;

  constructor(replicas: readonly [ClickHouse, ...ClickHouse[]]) {
    this.#replicas = replicas;
  }

  query<Row>(sql: string, params?: QueryParams, options?: QueryOptions): Promise<Row[]> {
    return this.#run((replica) => replica.query<Row>(sql, params, options));
  }

  queryText(sql: string, params?: QueryParams, options?: QueryOptions): Promise<string> {
    return this.#run((replica) => replica.queryText(sql, params, options));
  }

  exportRows(sql: string, params?: QueryParams): Promise<Buffer> {
    return this.#run((replica) => replica.exportRows(sql, params));
  }

  exportRowsUpTo(bytesMax: number, sql: string, params?: QueryParams): Promise<Buffer | undefined> {
    return this.#run((replica) => replica.exportRowsUpTo(bytesMax, sql, params));
  }

  command(sql: string, params?: QueryParams): Promise<void> {
    return this.#run((replica) => replica.command(sql, params));
  }

  insertRows(
    table: string,
    columns: readonly string[],
    data: BlockData,
    rowCount: number,
    token: string,
    confirm?: ConfirmInsert,
  ): Promise<void> {
    return this.#run((replica) => replica.insertRows(table, columns, data, rowCount, token, confirm));
  }

  insertsEnded(): Promise<void> {
    return this.#run((replica) => replica.insertsEnded());
  }

  /** The reader stays with its replica: another one might lack rows. */
  upToDate(tables: readonly string[]): Promise<ClickHouseReader> {
    return this.#run((replica) => replica.upToDate(tables));
  }

  systemTable(name: SystemTable): string {
    return this.#current.systemTable(name);
  }

  reachesAll(): Promise<boolean> {
    return this.#run((replica) => replica.reachesAll());
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  get #current(): ClickHouse {
    const replica = this.#replicas[this.#used];
    if (replica === undefined) throw new Error(`there is no replica ${this.#used}`);
    return replica;
  }

  async #run<T>(work: (replica: ClickHouse) => Promise<T>): Promise<T> {
    for (let left = this.#replicas.length; ; left--) {
      const replica = this.#current;
      try {
        return await work(replica);
      } catch (error) {
        const loss = isServerLost(error);
        // Another call may have moved on already.
        if (loss !== 'no' && this.#current === replica) this.#used = (this.#used + 1) % this.#replicas.length;
        // A call that took its whole time is not begun again: its caller has waited long enough.
        if (loss !== 'at-once' || left <= 1) throw error;
      }
    }
  }
}
