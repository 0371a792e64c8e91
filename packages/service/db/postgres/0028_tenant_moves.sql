-- Tenants that move between cells. A tenant without a row is served here as before.
create table tenant_moves (
  tenant_id text primary key,
  move_id text not null,
  -- In the source: copying and draining accept writes that are no events; frozen and moved accept none. In the target:
  -- arriving. Deleting the row ends the move: the tenant is at home here, or unknown.
  state text not null check (state in ('copying', 'draining', 'frozen', 'moved', 'arriving', 'leaving')),
  changed_at_ms bigint not null
);

-- How far the copy of an arriving tenant has come. Each row is written in the transaction that stores what it counts.
create table tenant_move_steps (
  tenant_id text not null references tenant_moves (tenant_id) on delete cascade,
  step text not null,
  progress json not null,
  primary key (tenant_id, step)
);

-- Returns whether nothing of a tenant may be written here, because it is frozen or is in another cell.
create function is_moving(tenant text) returns boolean
  language sql stable
  return exists (
    select from tenant_moves where tenant_id = tenant and state in ('frozen', 'moved', 'arriving', 'leaving')
  );

-- Refuses to write a row of such a tenant, whichever process asks and whatever it remembers. The copy itself names its
-- tenant in `tollgate.moving`. A deletion leaves the rows that are being copied: jobs delete expired rows of all
-- tenants at once.
create function refuse_moving_tenant() returns trigger language plpgsql as $$
begin
  if is_moving(new.tenant_id) and current_setting('tollgate.moving', true) is distinct from new.tenant_id then
    raise exception using errcode = 'TG001', message = 'the tenant is moving to another cell';
  end if;
  return new;
end $$;

create function keep_row_of_moving_tenant() returns trigger language plpgsql as $$
begin
  if exists (select from tenant_moves where tenant_id = old.tenant_id and state in ('frozen', 'arriving'))
    and current_setting('tollgate.moving', true) is distinct from old.tenant_id then
    return null;
  end if;
  return old;
end $$;

create function refuse_segment_of_moving_tenant() returns trigger language plpgsql as $$
begin
  if exists (
    select from tenant_moves
    where tenant_id = any(new.tenant_ids) and state in ('frozen', 'moved', 'arriving', 'leaving')
  ) then
    raise exception using errcode = 'TG001', message = 'a tenant is moving to another cell';
  end if;
  return new;
end $$;

create trigger refuse_moving_tenant before insert on segments
  for each row execute function refuse_segment_of_moving_tenant();

do $$
declare
  name text;
begin
  foreach name in array array[
    'accounts', 'api_keys', 'audit_log', 'backtests', 'boards', 'budget_leases', 'charts', 'credit_grants',
    'direct_limit_amounts', 'direct_limits', 'entitlement_grants', 'idempotent_requests', 'limit_revisions',
    'limit_rules', 'payment_order_keys', 'payment_orders', 'projects', 'raw_only_dimensions', 'rule_set_versions',
    'rule_sets', 'subject_routes', 'usage_limit_plan_rules', 'usage_limit_plan_versions', 'usage_limit_plans',
    'usage_retention', 'webhook_deliveries', 'webhook_endpoints', 'webhook_messages'
  ] loop
    execute format(
      'create trigger refuse_moving_tenant before insert or update on %I
       for each row execute function refuse_moving_tenant()', name);
    execute format(
      'create trigger keep_row_of_moving_tenant before delete on %I
       for each row execute function keep_row_of_moving_tenant()', name);
  end loop;
end $$;

-- Rating writes these for many rows of a batch, and only after segments, so only other writes are checked.
create trigger refuse_moving_tenant before insert on ledger_transactions
  for each row when (new.kind <> 'usage') execute function refuse_moving_tenant();
create trigger refuse_new_of_moving_tenant before insert on wallets
  for each row execute function refuse_moving_tenant();
create trigger refuse_mode_of_moving_tenant before update on wallets
  for each row when (old.mode is distinct from new.mode) execute function refuse_moving_tenant();

-- Rows that may never change or be deleted are replaced and deleted as parts of a copy.
create function is_part_of_copy(tenant text) returns boolean
  language sql stable
  return coalesce(current_setting('tollgate.moving', true), '') = tenant and exists (
    select from tenant_moves where tenant_id = tenant and state in ('arriving', 'leaving')
  );

drop trigger ledger_transactions_append_only on ledger_transactions;
create trigger ledger_transactions_append_only before update or delete on ledger_transactions
  for each row when (not is_part_of_copy(old.tenant_id)) execute function refuse_change();
drop trigger ledger_entries_append_only on ledger_entries;
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row when (not is_part_of_copy(old.tenant_id)) execute function refuse_change();
drop trigger entitlement_grants_end_once on entitlement_grants;
create trigger entitlement_grants_end_once before update or delete on entitlement_grants
  for each row when (not is_part_of_copy(old.tenant_id)) execute function refuse_change_of_grant();
drop trigger payment_orders_progress on payment_orders;
create trigger payment_orders_progress before update or delete on payment_orders
  for each row when (not is_part_of_copy(old.tenant_id)) execute function refuse_change_of_order();
