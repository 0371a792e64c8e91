export { OwnCell } from './cell.js';
export {
  beginDraining,
  CELLS_MAX,
  type Cell,
  type CellReport,
  findCell,
  listCells,
  migrateDirectory,
  putCell,
  removeTenant,
  reportEvents,
} from './directory-store.js';
export { EventRate } from './event-rate.js';
export { CellError, joinCell } from './join.js';
export {
  beginMove,
  cancelMove,
  findPlace,
  freezeTenant,
  listPlaces,
  openTenant,
  resumeMove,
  switchTenant,
  type TenantPlace,
} from './place-store.js';
export { registerCellRoutes } from './routes.js';
export { MOVING_NUMBERS, TABLE_OWNERS, type TableOwner, type TenantColumn } from './table-owners.js';
