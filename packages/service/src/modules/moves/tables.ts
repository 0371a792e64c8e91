import { TABLE_OWNERS, type TableOwner } from '../cells/index.js';

/** A table of the system of record. */
export type TableName = keyof typeof TABLE_OWNERS;

/**
 * Tables that are copied while the tenant works, and whose changes are copied again once it is frozen. They may have
 * many rows. No foreign key leads from or to them, except to the tenant. All other tables are copied once, when the
 * tenant is frozen.
 */
const COPIED_LIVE: ReadonlySet<TableName> = new Set<TableName>([
  'audit_log',
  'budget_leases',
  'current_windows',
  'failed_events',
  'idempotent_requests',
  'ledger_entries',
  'ledger_transactions',
  'limit_alerts',
  'limit_reserved',
  'past_windows',
  'sliding_steps',
  'usage_counter_states',
  'usage_counter_totals',
  'usage_counter_values',
  'usage_counters',
  'usage_event_ids',
  'usage_event_totals',
  'usage_totals',
  'window_value_sets',
  'window_values',
]);

/**
 * Tables without a trigger that refuses writes of a frozen tenant, and the reason. Rating writes nothing for a tenant
 * without segments.
 */
export const UNCHECKED_TABLES: Readonly<Partial<Record<TableName, string>>> = {
  console_sessions: 'a person whose session was lost signs in again',
  current_windows: 'written by rating, and together with limits',
  event_arrival_counters: 'written by rating',
  event_arrivals: 'written by rating',
  event_quota_counters: 'opened together with quotas, and advanced by appends, which check it',
  failed_events: 'written by rating',
  ingest_totals: 'written by rating',
  ledger_entries: 'written together with ledger transactions',
  limit_alerts: 'written by rating',
  limit_reserved: 'written together with leases',
  past_windows: 'written by rating, and together with limits',
  rule_set_counters: 'written together with versions of rule sets',
  payment_reversals: 'the provider reports it again until it is taken',
  sliding_steps: 'written by rating',
  tenants: 'never changes',
  usage_alerts: 'written by rating',
  usage_correction_counters: 'written together with corrections',
  usage_correction_counts: 'written together with corrections',
  usage_correction_parts: 'written together with corrections',
  usage_correction_totals: 'written together with corrections',
  usage_counter_states: 'written by rating',
  usage_counter_totals: 'written by rating',
  usage_counter_values: 'written by rating',
  usage_counters: 'written by rating',
  usage_event_id_blocks: 'written by the compaction, which passes over tenants that move',
  usage_event_ids: 'written by rating',
  usage_event_revisions: 'written together with corrections',
  usage_event_totals: 'written by rating',
  usage_losses: 'written by the operator alone',
  usage_totals: 'written by rating',
  window_value_sets: 'written by rating',
  window_values: 'written by rating',
};

/** Whether rows of a table may have changed since they were copied, so that parts of it are copied again. */
export function mayChangeAfterCopy(table: TableName): boolean {
  return COPIED_LIVE.has(table) || (UNCHECKED_TABLES[table] !== undefined && table !== 'tenants');
}

/** Returns the tables whose rows move with their tenant; a table comes after the tables to which its rows refer. */
export function tenantTables(copied?: 'live' | 'frozen'): TableName[] {
  const names = Object.keys(TABLE_OWNERS) as TableName[];
  return names.filter(
    (name) =>
      TABLE_OWNERS[name].owner === 'tenant' &&
      (copied === undefined || COPIED_LIVE.has(name) === (copied === 'live')),
  );
}

/** Returns how the rows of a table name their tenant. @throws Error if they do not belong to tenants */
export function tenantColumnOf(table: TableName): Extract<TableOwner, { owner: 'tenant' }>['by'] {
  const found = TABLE_OWNERS[table];
  if (found.owner !== 'tenant') throw new Error(`rows of ${table} do not move with a tenant`);
  return found.by;
}

/** Returns whether a text is the name of a table whose rows move with their tenant. */
export function isTenantTable(name: string): name is TableName {
  return Object.hasOwn(TABLE_OWNERS, name) && TABLE_OWNERS[name as TableName].owner === 'tenant';
}
