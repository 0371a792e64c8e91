export { BatchCounters, type CountedEvent, type EventToCount } from './batch-counters.js';
export { type Counter, counterKey, counterOf } from './counter.js';
export { CounterMemory } from './counter-memory.js';
export { type CountableItem, CounterPeriod, tooLarge } from './counter-period.js';
export { lockCounters, writeCounters } from './counter-store.js';
export { registerCounterRoutes } from './routes.js';
export { storedPeriods } from './stored-period.js';
