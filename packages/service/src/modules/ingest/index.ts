export {
  BACKLOG_BYTES_MAX_DEFAULT,
  BACKLOG_EVENTS_MAX_DEFAULT,
  type Scheduler,
  timerScheduler,
} from './backlog-gate.js';
export { type IngestRoutesDeps, registerIngestRoutes } from './routes.js';
export { type IngestDeps, IngestService } from './service.js';
export type { EventWindow } from './validate.js';
