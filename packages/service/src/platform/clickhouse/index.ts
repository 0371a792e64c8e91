export { chdbConfigFile } from './chdb-config.js';
export { type EmbeddedClickHouseOptions, openEmbeddedClickHouse } from './embedded.js';
export { isClickHouseUnavailable } from './errors.js';
export { applyClickHouseMigrations } from './migrate.js';
export {
  type ClickHouse,
  type ClickHouseLimits,
  ClickHouseUnavailableError,
  type QueryOptions,
  type QueryParams,
  type RowBinaryData,
} from './port.js';
export { type ClickHouseServerOptions, connectClickHouse } from './server.js';
export { identifier, literal } from './sql.js';
