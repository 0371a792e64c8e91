import {
  type ClickHouse,
  type ClickHouseReader,
  parseRows,
  type QueryParams,
} from '../platform/clickhouse/index.js';

/** A query that a thread asks the main thread to run, because only that has ClickHouse. */
export interface ClickHouseCall {
  readonly input: {
    readonly sql: string;
    readonly params: QueryParams | undefined;
    /** Tables that are read up to date; see `ClickHouse.upToDate`. */
    readonly upToDate?: readonly string[];
  };
  /** The result of `ClickHouse.queryText`. */
  readonly result: string;
}

/** A query whose rows the thread gets as blocks of the Native format. */
export interface BlocksCall {
  readonly input: ClickHouseCall['input'] & { readonly bytesMax: number };
  /** The result of `ClickHouse.exportRowsUpTo`. */
  readonly result: Uint8Array | undefined;
}

type QueryCall = (name: 'query', input: ClickHouseCall['input']) => Promise<string>;
type ExportCall = (name: 'exportRowsUpTo', input: BlocksCall['input']) => Promise<BlocksCall['result']>;

/** Returns ClickHouse as a thread sees it. */
export function clickHouseBehind(call: QueryCall): Pick<ClickHouseReader, 'query'> {
  return {
    query: async <Row>(sql: string, params?: QueryParams) =>
      parseRows<Row>(await call('query', { sql, params })),
  };
}

/** The same of tables of which no row that was inserted is missed, with blocks. */
export function upToDateBehind(
  call: QueryCall & ExportCall,
  upToDate: readonly string[],
): Pick<ClickHouseReader, 'query' | 'exportRowsUpTo'> {
  return {
    query: async <Row>(sql: string, params?: QueryParams) =>
      parseRows<Row>(await call('query', { sql, params, upToDate })),
    exportRowsUpTo: async (bytesMax, sql, params) => {
      const bytes = await call('exportRowsUpTo', { bytesMax, sql, params, upToDate });
      return bytes && bufferOf(bytes);
    },
  };
}

/** A Buffer arrives at another thread as a plain array of bytes. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Runs the query of a thread. */
export async function runCall(
  clickhouse: Pick<ClickHouse, 'queryText' | 'upToDate'>,
  { sql, params, upToDate }: ClickHouseCall['input'],
): Promise<string> {
  return (await readerOf(clickhouse, upToDate)).queryText(sql, params);
}

/** The same for its rows as blocks. */
export async function runBlocksCall(
  clickhouse: Pick<ClickHouse, 'exportRowsUpTo' | 'upToDate'>,
  { bytesMax, sql, params, upToDate }: BlocksCall['input'],
): Promise<BlocksCall['result']> {
  return (await readerOf(clickhouse, upToDate)).exportRowsUpTo(bytesMax, sql, params);
}

async function readerOf<Reader>(
  clickhouse: Reader & Pick<ClickHouse, 'upToDate'>,
  upToDate: readonly string[] | undefined,
): Promise<Reader | ClickHouseReader> {
  return upToDate === undefined ? clickhouse : clickhouse.upToDate(upToDate);
}
