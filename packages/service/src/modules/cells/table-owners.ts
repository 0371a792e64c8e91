import type { Database } from '../../platform/postgres/index.js';

/**
 * The owner of the rows of a table.
 * - `tenant`: they belong to one tenant and move with it; `by` says how a row names its tenant.
 * - `cell`: they belong to the installation and stay.
 * - `passing`: they are deleted when the work that they describe is done, or can be calculated again; a tenant whose
 *   work is done has none of them.
 */
export type TableOwner =
  | { readonly owner: 'tenant'; readonly by: TenantColumn }
  | { readonly owner: 'cell' }
  | { readonly owner: 'passing' };

/**
 * How a row names its tenant: by a column of this name, or
 * - `id`: it is the tenant;
 * - `project_no`: the number of the tenant's project;
 * - `key_hash`: the SHA-256 of the tenant's API key;
 * - `payment_id`: together with `provider`, the payment of the tenant's order.
 */
export type TenantColumn = 'id' | 'tenant_id' | 'project_no' | 'key_hash' | 'payment_id';

const TENANT = { owner: 'tenant', by: 'tenant_id' } as const;
const PROJECT_NO = { owner: 'tenant', by: 'project_no' } as const;
const CELL = { owner: 'cell' } as const;
const PASSING = { owner: 'passing' } as const;

/** Every table of a cell's PostgreSQL. A table comes after those that its rows refer to. */
export const TABLE_OWNERS: Readonly<Record<keyof Database | 'schema_migrations', TableOwner>> = {
  tenants: { owner: 'tenant', by: 'id' },
  projects: TENANT,
  api_keys: TENANT,
  audit_log: TENANT,
  console_sessions: { owner: 'tenant', by: 'key_hash' },

  entitlement_grants: TENANT,
  payment_orders: TENANT,
  payment_order_keys: TENANT,
  payment_reversals: { owner: 'tenant', by: 'payment_id' },
  event_arrivals: TENANT,
  event_arrival_counters: TENANT,
  event_quotas: TENANT,
  event_quota_counters: TENANT,

  rule_sets: TENANT,
  rule_set_versions: TENANT,
  rule_set_counters: TENANT,
  backtests: TENANT,
  boards: TENANT,
  charts: TENANT,
  raw_only_dimensions: TENANT,

  accounts: TENANT,
  wallets: TENANT,
  credit_grants: TENANT,
  ledger_transactions: TENANT,
  ledger_entries: TENANT,
  idempotent_requests: TENANT,

  usage_limit_plans: TENANT,
  usage_limit_plan_versions: TENANT,
  usage_limit_plan_rules: TENANT,
  subject_routes: TENANT,
  direct_limits: TENANT,
  direct_limit_amounts: TENANT,
  limit_raises: TENANT,
  limit_revisions: TENANT,
  project_settings: TENANT,
  limit_rules: TENANT,
  current_windows: PROJECT_NO,
  past_windows: PROJECT_NO,
  sliding_steps: PROJECT_NO,
  window_values: PROJECT_NO,
  window_value_sets: PROJECT_NO,
  limit_alerts: PROJECT_NO,
  limit_reserved: PROJECT_NO,
  budget_leases: TENANT,

  webhook_endpoints: TENANT,
  webhook_messages: TENANT,
  webhook_deliveries: TENANT,

  usage_counters: TENANT,
  usage_counter_totals: PROJECT_NO,
  usage_counter_states: TENANT,
  usage_counter_values: TENANT,
  usage_event_ids: PROJECT_NO,
  usage_event_id_blocks: PROJECT_NO,
  failed_events: TENANT,
  ingest_totals: TENANT,
  usage_totals: TENANT,
  usage_event_totals: TENANT,
  usage_retention: TENANT,
  usage_alerts: TENANT,
  usage_corrections: TENANT,
  usage_correction_parts: TENANT,
  usage_correction_totals: TENANT,
  usage_correction_counters: TENANT,
  usage_correction_counts: TENANT,
  usage_event_revisions: TENANT,
  usage_losses: TENANT,

  archived_blocks: CELL,
  archived_projects: CELL,
  catalog_plans: CELL,
  event_id_compaction: CELL,
  key_changes: CELL,
  lease_members: CELL,
  object_store: CELL,
  process_leases: CELL,
  projection_state: CELL,
  retention_sweep: CELL,
  sandbox_events: CELL,
  sandbox_sessions: CELL,
  schema_migrations: CELL,
  sharding: CELL,
  tenant_move_steps: CELL,
  tenant_moves: CELL,
  unreadable_segments: CELL,
  unserved_tenants: CELL,

  projections: PASSING,
  segments: PASSING,
  usage_batches: PASSING,
};

/** Identity columns whose numbers move with the rows of a tenant. Each cell gives out numbers of a range of its own. */
export const MOVING_NUMBERS: readonly { readonly table: keyof Database; readonly column: string }[] = [
  { table: 'projects', column: 'no' },
  { table: 'limit_rules', column: 'no' },
];
