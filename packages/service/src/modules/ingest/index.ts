export type { EventAdmission, EventTerms } from './event-admission.js';
export { registerIngestRoutes } from './routes.js';
export { IngestService } from './service.js';
