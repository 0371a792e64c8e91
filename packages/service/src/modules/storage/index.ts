export { dedicatedSuffixes, provisionStorage } from './project-store.js';
export { type StorageScope, type StorageTables, storageTables } from './tables.js';
