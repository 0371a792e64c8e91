export type { QuotaRecord, QuotaRefusal } from './admit.js';
export {
  type EventAdmission,
  type EventEntitlement,
  type EventWindow,
  quotaExceeded,
} from './event-entitlement.js';
export { EventQuotas } from './event-quotas.js';
export type { ArrivedEvents } from './monthly-events.js';
export { recountQuotas } from './recount-store.js';
export { registerQuotaRoutes } from './routes.js';
export { SpentQuotas } from './spent-quotas.js';
export { addArrivals, openQuota, usedEvents } from './store.js';
