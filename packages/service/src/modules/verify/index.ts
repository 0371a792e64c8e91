export { registerVerifyRoutes } from './routes.js';
export { type VerifyDeps, verifyUsage } from './service.js';
