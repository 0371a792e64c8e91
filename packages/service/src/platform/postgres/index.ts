export {
  lockKey,
  lockUntilCommit,
  pollAdvisoryLock,
  shareLockUntilCommit,
  tryAdvisoryLock,
  tryLockUntilCommit,
  withAdvisoryLock,
} from './advisory-lock.js';
export {
  arrayLiteral,
  bigintArray,
  byteaArray,
  columnsOf,
  integerArray,
  quotedText,
  uuidArray,
} from './arrays.js';
export {
  BackupUnderWayError,
  BaseBackup,
  CONTROL_FILE,
  isBackupUnderWay,
} from './base-backup.js';
export { embeddedMajorVersion, PostgresUnavailableError } from './binaries.js';
export {
  connectPostgres,
  type Db,
  oldestTransactionMs,
  onSnapshot,
  type Postgres,
  type PostgresConfig,
  type Tx,
  transaction,
} from './connect.js';
export { type EmbeddedPostgres, type PostgresConnection, startEmbeddedPostgres } from './embedded.js';
export { endConnections } from './end-connections.js';
export {
  isCausedByValues,
  isForbidden,
  isForeignKeyViolation,
  isMissingTable,
  isServerError,
  isTenantMoving,
  isUnavailable,
  isUniqueViolation,
} from './errors.js';
export { applyMigrations, checkMigrations, type MigrationOptions } from './migrate.js';
export { isNotMoving } from './moving-tenants.js';
export { recount } from './recount.js';
export { removeEmbeddedPostgres } from './remove.js';
export { type ClusterFiles, findCluster, restoreCluster } from './restored-cluster.js';
export { runningEmbeddedPostgres } from './running.js';
export { ProjectDb, type ProjectTable, ProjectTx, TenantDb, TenantTx } from './scoped-db.js';
export { checkPostgresServer } from './server-check.js';
export { claimSweep, type SweepClaim } from './sweep-claim.js';
export type { Database } from './tables.js';
export { startTemporaryPostgres, temporaryFolder } from './temporary.js';
export { type AwaitedWork, DUE_NOW, WorkWatch } from './work-watch.js';
