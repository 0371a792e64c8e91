export { chdbConfigFile } from './chdb-config.js';
export { createTableCopy } from './copy.js';
export { openEmbeddedClickHouse } from './embedded.js';
export { isClickHouseUnavailable } from './errors.js';
export { applyClickHouseMigrations, checkClickHouseMigrations } from './migrate.js';
export { openClickHouseServer } from './open-server.js';
export {
  type BlockData,
  type ClickHouse,
  type ClickHouseReader,
  ClickHouseUnavailableError,
  type ConfirmInsert,
  InsertCountError,
  type QueryParams,
} from './port.js';
export { areViewsHalfReplaced, outdatedViews } from './replaced-views.js';
export { parseRows } from './rows.js';
export { rowsUpTo } from './rows-up-to.js';
export { connectClickHouse } from './server.js';
export { columnList, identifier, literal } from './sql.js';
