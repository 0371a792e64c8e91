export { MoveDriver, TenantMoveError } from './driver.js';
export { registerMoveRoutes } from './routes.js';
export { CellStepError } from './source-client.js';
export { TenantGate } from './tenant-gate.js';
