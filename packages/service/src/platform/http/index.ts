export { createApp } from './app.js';
export { type ChangeContext, contextOf } from './change-context.js';
export { SURPLUS_CONNECTIONS_MAX } from './connection-limit.js';
export { embeddedJson, placedAt, type ReadEmbeddedJson } from './embedded-json.js';
export { ApiError, ERROR_DETAILS_MAX, invalidRequest } from './errors.js';
export { type ExpressRequest, registerExpressRoute } from './express-route.js';
export { meOf } from './me.js';
export { type Page, pageOf } from './page.js';
export { boundToProject, lackingPermissions, permissionDenied } from './permission-denied.js';
export { Readiness } from './readiness.js';
export { secured } from './secured.js';
export { closeGracefully } from './shutdown.js';
export { Slots } from './slots.js';
export { firstUnusableText, isUsableText } from './text.js';
export {
  type Access,
  type App,
  type Authenticator,
  type KeyPrincipal,
  type Principal,
  type ProjectRef,
  type ProjectResolver,
  principalPermits,
  type SessionAuthenticator,
} from './types.js';
export { checkAsBody, validatorCompiler } from './validation.js';
