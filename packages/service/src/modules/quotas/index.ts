export type { ArrivedEvents, QuotaRecord, QuotaRefusal } from './admit.js';
export {
  type EventAdmission,
  type EventEntitlement,
  type EventWindow,
  quotaExceeded,
} from './event-entitlement.js';
export { EventQuotas, SpentQuotas } from './event-quotas.js';
export { recountQuotas } from './recount-store.js';
export { registerQuotaRoutes } from './routes.js';
export { addArrivals, openQuota, takeCounterNo, usedEvents } from './store.js';
