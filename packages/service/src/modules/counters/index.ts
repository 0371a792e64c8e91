export { BatchCounters, type CountedEvent, type EventToCount } from './batch-counters.js';
export {
  type CountableItem,
  type CountedProject,
  type Counter,
  countedValue,
  counterKey,
  counterOf,
  KEPT_TEXT_BYTES_MAX,
  keepsValues,
  MissingItemError,
  tooLarge,
} from './counter.js';
export { CounterMemory } from './counter-memory.js';
export { CounterPeriod } from './counter-period.js';
export { lockCounters, writeCounters } from './counter-store.js';
export { registerCounterRoutes } from './routes.js';
export { storedPeriods } from './stored-period.js';
