import type { TestPostgres } from '../../testing/index.js';
import { type TableName, tenantTables } from './tables.js';

/** SQL of the values for a column with this name; `n` is the number of the row. */
const BY_NAME: Readonly<Record<string, string>> = {
  id: `format('id_%s_%s', :tenant, n)`,
  plan_id: `format('id_%s_%s', :tenant, n)`,
  board_id: `format('id_%s_%s', :tenant, n)`,
  account_id: `format('id_%s_%s', :tenant, n)`,
  correction_id: `format('id_%s_%s', :tenant, n)`,
  order_id: `format('id_%s_%s', :tenant, n)`,
  route_id: `format('id_%s_%s', :tenant, n)`,
  rule_set_id: `format('id_%s_%s', :tenant, n)`,
  direct_limit_id: `format('id_%s_%s', :tenant, n)`,
  plan_version_id: `format('id_%s_%s', :tenant, n)`,
  endpoint_id: `format('id_%s_%s', :tenant, n)`,
  message_id: `format('id_%s_%s', :tenant, n)`,
  key_hash: `sha256(convert_to(format('%s %s', :tenant, n), 'UTF8'))`,
  id_hash: `sha256(convert_to(format('session %s %s', :tenant, n), 'UTF8'))`,
  currency: `'USD'`,
  measure: `'amount'`,
  selector_type: `'all'`,
  action: `'block'`,
  effective: `'now'`,
  unknown_subjects: `'deny'`,
  size: `'half'`,
  chart_type: `'line'`,
  comparison: `'previous_period'`,
  provider: `'stripe'`,
  payment_id: `format('pay_%s_%s', :tenant, n)`,
  paid_at: `n`,
  storage: `'shared'`,
  mode: `'prepaid'`,
  source: `format('source %s %s', :tenant, n)`,
  ends_at: `n + 10`,
  version: `n`,
  revision: `n`,
  remaining: `0.10`,
  amount: `(n || '.10')::numeric`,
  shown_from_day: `n + 1`,
  retained_from_day: `n`,
  session_url: `'url'`,
  session_id: `format('cs_%s_%s', :tenant, n)`,
  session_expires_at: `1`,
};

/** Values for columns whose check constraints need others. */
const BY_COLUMN: Readonly<Record<string, string>> = {
  'backtests.status': `'failed'`,
  'budget_leases.status': `'active'`,
  'payment_orders.status': `'paid'`,
  'webhook_deliveries.status': `'pending'`,
  'webhook_deliveries.next_attempt_at_ms': '1',
  'credit_grants.source': `'credit'`,
  'ledger_transactions.kind': `'correction'`,
  'ledger_entries.ledger_account': `'usage'`,
  'payment_reversals.kind': `'refund'`,
  'projects.kind': `'release'`,
  'rule_sets.kind': `'extractor'`,
  'rule_sets.purpose': `'cost'`,
  'usage_limit_plan_versions.published_at_ms': 'n',
  'charts.group_by': `'{}'`,
  'tenants.id': ':tenant',
  'usage_event_id_blocks.first_id': `md5(format('%s %s', :tenant, n))::uuid`,
  'usage_event_id_blocks.ids': `array[md5(format('%s %s', :tenant, n))::uuid]`,
  'event_quota_counters.used': '0',
  'projects.id': `format('prj_%s_%s', :tenant, 1)`,
  'usage_corrections.action': `'void'`,
  'usage_corrections.status': `'applied'`,
  'usage_corrections.counters': `'current'`,
  'usage_corrections.phase': `'parts'`,
  'usage_losses.kind': `'rated'`,
  'usage_correction_counts.side': `'out'`,
  'usage_event_revisions.revision': 'n + 1',
  'usage_retention.project_id': `format('prj_%s_%s', :tenant, 1)`,
  'failed_events.event': `E'{"a": "Ünï, \\\\"(\\\\\\\\)", "n": 1.50}'`,
  'accounts.metadata': `'{"z": 1}'`,
  'usage_counter_totals.id': 'gen_random_uuid()',
  'usage_counters.key': `decode(md5(format('%s %s', :tenant, n)), 'hex')`,
  'usage_counters.by_dimensions': `'{"model": null}'`,
  'audit_log.change': `'{"z": 1.10, "a":  null}'`,
};

const BY_TYPE: Readonly<Record<string, string>> = {
  text: `'te,x"t (' || n || E')\\\\ \\n'`,
  bigint: 'n',
  integer: 'n',
  smallint: 'n',
  boolean: 'true',
  bytea: `'\\x00ff5c'`,
  uuid: `gen_random_uuid()`,
  json: `'{"b": [1.10],  "a": null}'`,
  numeric: `(n || '.10')::numeric`,
};

/** Tables that have one row for each project or tenant. */
const SINGLE = new Set<TableName>([
  'tenants',
  'projects',
  'ingest_totals',
  'limit_revisions',
  'project_settings',
  'usage_counter_states',
  'usage_retention',
]);

/** Fills every table that moves with rows of a tenant with one project, including awkward text and exact decimals. */
export async function fillTables(
  { postgres }: TestPostgres,
  tenantId: string,
  rowCount: number,
): Promise<void> {
  const client = await postgres.pool.connect();
  try {
    await client.query('begin');
    for (const table of tenantTables()) {
      const { rows: columns } = await client.query<{ name: string; type: string; generated: boolean }>(
        `select attname as name, format_type(atttypid, null) as type, attidentity <> '' as generated
         from pg_attribute left join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum
         where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
        [table],
      );
      const filled = columns.filter(({ name, generated }) => !generated && !isLeftOut(table, name));
      const values = filled.map(({ name, type }) => sqlValueOf(table, name, type));
      await client.query(
        `insert into ${table} (${filled.map(({ name }) => name).join(', ')})
         select ${values.join(', ')} from generate_series(1, ${SINGLE.has(table) ? 1 : rowCount}) as n`
          .replaceAll(':tenant', `'${tenantId}'`)
          .replaceAll(':project', `'prj_${tenantId}_1'`),
      );
    }
    // A counter is opened before it counts.
    await client.query('update event_quota_counters set used = month_start where tenant_id = $1', [tenantId]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

const LEFT_OUT = new Set([
  'usage_limit_plan_id',
  'plan_bound_at_ms',
  'extractor_rule_set_id@rule_sets',
  'expired_at',
  'ended_at',
  'disabled_at',
  'disabled_reason',
  'previous_secret',
  'previous_secret_until',
  'event_limit',
]);

function isLeftOut(table: string, column: string): boolean {
  return LEFT_OUT.has(column) || LEFT_OUT.has(`${column}@${table}`);
}

function sqlValueOf(table: TableName, column: string, type: string): string {
  const special = BY_COLUMN[`${table}.${column}`];
  if (special !== undefined) return special;
  if (column === 'tenant_id') return ':tenant';
  if (column === 'project_id') return ':project';
  if (column === 'project_no') return `(select no from projects where id = :project)`;
  const named = BY_NAME[column];
  if (named !== undefined && !type.endsWith('[]')) return named;
  if (type.endsWith('[]')) return `array[${BY_TYPE[type.slice(0, -2)] ?? `'x'`}]::${type}`;
  return BY_TYPE[type] ?? `'x'`;
}
