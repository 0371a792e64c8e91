export { dedicatedSuffixes, provisionStorage } from './project-store.js';
export { SHARED_TABLES, type StorageScope, type StorageTables, storageTables } from './tables.js';
