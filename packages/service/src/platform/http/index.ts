export { createApp } from './app.js';
export { type ChangeContext, contextOf } from './change-context.js';
export { ApiError, ERROR_DETAILS_MAX, invalidRequest } from './errors.js';
export { type ExpressRequest, registerExpressRoute } from './express-route.js';
export { type Page, pageOf } from './page.js';
export { Readiness } from './readiness.js';
export { closeGracefully } from './shutdown.js';
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
} from './types.js';
