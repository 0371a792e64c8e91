export { registerIngestRoutes } from './routes.js';
export { IngestService } from './service.js';
