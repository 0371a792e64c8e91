export { registerConsoleRoutes } from './routes.js';
export { Sessions } from './sessions.js';
