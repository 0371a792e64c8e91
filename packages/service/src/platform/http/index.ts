export type { AccessPorts } from './access.js';
export { type AppOptions, createApp } from './app.js';
export { ApiError, type ApiErrorOptions, ERROR_DETAILS_MAX, invalidRequest } from './errors.js';
export { type Page, pageOf } from './page.js';
export { Readiness, type ReadinessCheck } from './readiness.js';
export { CLOSE_DEADLINE_MS, closeGracefully } from './shutdown.js';
export { firstUnusableText, isUsableText } from './text.js';
export {
  type Access,
  type App,
  type Authenticator,
  type KeyPrincipal,
  type Principal,
  type ProjectRef,
  type ProjectResolver,
  principalPermissions,
  principalPermits,
  principalSees,
  type ServicePrincipal,
} from './types.js';
