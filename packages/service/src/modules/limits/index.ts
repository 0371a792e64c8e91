export type { LimitCatalog } from './book/catalog.js';
export { createWorkerCatalog } from './book/index.js';
export * from './posting/index.js';
