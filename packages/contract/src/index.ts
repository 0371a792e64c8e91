export * from './common.js';
export * from './errors.js';
export * from './ingest.js';
export * from './limits.js';
export * from './permissions.js';
export * from './rule-set.js';
