export * from './errors.js';
export * from './limits.js';
export * from './permissions.js';
export * from './rule-set.js';
