import type { App } from '../../platform/http/index.js';
import { type EventRouteDeps, registerEventRoutes } from './event-routes.js';
import { registerIngestStatusRoutes } from './ingest-routes.js';
import type { ReprocessDeps } from './reprocess.js';

export type UsageDeps = EventRouteDeps & ReprocessDeps;

/** Registers everything under `/v1/projects/:project_id/usage` apart from metric discovery. */
export function registerUsageRoutes(app: App, deps: UsageDeps): void {
  registerEventRoutes(app, deps);
  registerIngestStatusRoutes(app, deps);
}
