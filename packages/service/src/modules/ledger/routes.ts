import type { App } from '../../platform/http/index.js';
import { type AccountRouteDeps, registerAccountRoutes } from './account-routes.js';
import { registerWalletRoutes, type WalletRouteDeps } from './wallet-routes.js';

export type LedgerRouteDeps = AccountRouteDeps & WalletRouteDeps;

/** `/v1/projects/:project_id/accounts…` */
export function registerLedgerRoutes(app: App, deps: LedgerRouteDeps): void {
  registerAccountRoutes(app, deps);
  registerWalletRoutes(app, deps);
}
