export { registerVerifyRoutes } from './routes.js';
export { verifyUsage } from './service.js';
