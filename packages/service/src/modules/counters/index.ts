export { BatchCounters, type EventToCount } from './batch-counters.js';
