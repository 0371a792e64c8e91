import type { PostgresConnection } from '../platform/postgres/index.js';

/** The stores that the global set-up provides to every test file. */
export interface TestStores {
  /** Its database is the migrated template. */
  readonly postgres: PostgresConnection;
  /** URL of the server; every test file creates a database on it. */
  readonly clickhouseUrl: string;
  /** See `createClickHouseTemplate`. */
  readonly clickhouseTemplate: string;
}
