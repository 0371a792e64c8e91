export {
  dedicatedTables,
  SHARED_TABLES,
  type StorageScope,
  type StorageTables,
  storageTables,
} from './tables.js';
