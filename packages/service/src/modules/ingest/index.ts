export { PENDING_BYTES_MAX } from './group-commit.js';
export { registerIngestRoutes } from './routes.js';
export { IngestService } from './service.js';
export { EventCheck } from './validate.js';
