export type { EventAdmission, EventEntitlement } from './event-admission.js';
export { registerIngestRoutes } from './routes.js';
export { IngestService } from './service.js';
