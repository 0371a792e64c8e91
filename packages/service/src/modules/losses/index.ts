export { type GivingUp, recordLoss } from './give-up.js';
export { type KnownLoss, type Lost, type LostPart, readLosses, tenantsOf } from './loss-store.js';
