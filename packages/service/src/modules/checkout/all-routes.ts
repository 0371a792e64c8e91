import type { App } from '../../platform/http/index.js';
import type { Checkouts } from './checkouts.js';
import { registerCheckoutRoutes } from './routes.js';
import type { OrderSettlement } from './settlement.js';
import { registerPaymentWebhookRoutes } from './webhook-routes.js';

/** Adds routes to the HTTP application. */
export type RegisterRoutes = (app: App) => void;

/** Returns the routes of orders, and those that the payment provider calls. */
export function allCheckoutRoutes(checkouts: Checkouts, settlement: OrderSettlement): RegisterRoutes {
  return (app) => {
    registerCheckoutRoutes(app, checkouts);
    registerPaymentWebhookRoutes(app, settlement);
  };
}
