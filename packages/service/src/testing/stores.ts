import type { PostgresConnection } from '../platform/postgres/index.js';

/** What the global set-up tells every test file. */
export interface TestStores {
  /** Its database is the migrated template. */
  readonly postgres: PostgresConnection;
  /** Of the server; every test file makes a database on it. */
  readonly clickhouseUrl: string;
}
