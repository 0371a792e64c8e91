import type { LogLevel } from '../platform/log/index.js';
import type { ObjectStoreLocation } from '../platform/object-store/index.js';
import type { PostgresConfig } from '../platform/postgres/index.js';
import type { BlocksCall, ClickHouseCall } from './clickhouse-calls.js';
import type { LocalFolders } from './data-dir.js';

/** The start data of a corrections thread. */
export interface CorrectionsThreadData {
  readonly postgresConnection: PostgresConfig['connection'];
  readonly folders: LocalFolders | undefined;
  readonly objectStore: ObjectStoreLocation | undefined;
  readonly logLevel: LogLevel;
  readonly niceness: number;
}

/** The jobs of a corrections thread. */
export interface CorrectionJobs {
  /** Does steps that are due, for a time; returns their number. */
  readonly advance: { readonly input: { readonly msMax: number }; readonly result: number };
}

/** Requests of a corrections thread to the main thread. */
export interface CorrectionCalls {
  readonly query: ClickHouseCall;
  readonly exportRowsUpTo: BlocksCall;
  /** Rows for ClickHouse were committed. */
  readonly committed: { readonly input: undefined; readonly result: undefined };
}
