export {
  batchRecord,
  createProject,
  idHexOf,
  RECEIVED_AT_MS,
  reprocessRecord,
  type TestEvent,
  type TestProject,
} from './accepted.js';
export { TestArchive } from './archive.js';
export { createTestClickHouse, type TestClickHouse } from './clickhouse.js';
export { type CorrectedRows, correctedRows, insertCorrections, voidedRows } from './corrected-rows.js';
export { dueAtMs } from './due.js';
export { restoreFormerViews } from './former-views.js';
export { passingOn, useObjectStoreKinds } from './object-store-kinds.js';
export { openMarkedStore, S3_CREDENTIALS, TestS3 } from './object-stores.js';
export { PipelineFixture } from './pipeline-fixture.js';
export { connectTo, createTestPostgres, createTestSchema, type TestPostgres } from './postgres.js';
export { TEST_DAY, testEvent, testRules } from './test-rules.js';
export { TestTimers } from './test-timers.js';
export { failedRow, idOf, insertUsageRows, stored, usageItem, usageRow } from './usage-rows.js';
export { waitFor } from './wait-for.js';
