-- The plans that a tenant can have, what tenants were granted of them, and the events that count against a plan.

-- Every change of a plan is a higher revision; limits of -1 are none.
create table catalog_plans (
  id text not null,
  revision integer not null check (revision > 0),
  display_name text not null,
  -- In minor units of the currency.
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  period text not null check (period = 'month'),
  monthly_event_limit bigint not null check (monthly_event_limit >= -1),
  retention_days integer not null check (retention_days = -1 or retention_days > 0),
  max_development_projects bigint not null check (max_development_projects >= -1),
  max_release_projects bigint not null check (max_release_projects >= -1),
  max_subject_routes bigint not null check (max_subject_routes >= -1),
  max_usage_controls bigint not null check (max_usage_controls >= -1),
  requires_release_project_usage_storage boolean not null,
  -- Days from now, before and after it.
  release_project_usage_storage_dynamic_partition_start integer not null
    check (release_project_usage_storage_dynamic_partition_start <= 0),
  release_project_usage_storage_dynamic_partition_end integer not null
    check (release_project_usage_storage_dynamic_partition_end >= 0),
  release_project_usage_storage_create_history_partition boolean not null,
  features json not null,
  created_at bigint not null,
  primary key (id, revision)
);
create trigger catalog_plans_append_only before update or delete on catalog_plans
  for each row execute function refuse_change();

insert into catalog_plans values
  ('launch', 1, 'Launch', 1900, 'USD', 'month', 1000000, 90, 3, 1, 1000, 50, false, -90, 3, false, '{"budgets":false}', 0),
  ('growth', 1, 'Growth', 19900, 'USD', 'month', 20000000, 365, 10, 5, 50000, 500, false, -90, 3, false, '{"budgets":true}', 0),
  ('scale', 1, 'Scale', 49900, 'USD', 'month', 200000000, 730, -1, 20, -1, -1, true, -732, 30, true, '{"budgets":true}', 0),
  ('enterprise', 1, 'Enterprise', 0, 'USD', 'month', -1, -1, -1, -1, -1, -1, true, -732, 30, true, '{"budgets":true}', 0);

-- What a tenant was granted. Grants of one tenant never overlap.
create table entitlement_grants (
  tenant_id text not null references tenants (id),
  id text not null,
  plan_id text not null,
  revision integer not null,
  -- The plan as it was bought, as the interface shows it: no later revision changes it.
  plan json not null,
  -- What it was granted for, such as a payment: nothing is granted twice.
  source text not null,
  starts_at bigint not null,
  -- Exclusive, as granted: one calendar month.
  ends_at bigint not null,
  -- Set once, when another plan took its place before it had ended, or begun.
  ended_at bigint,
  created_at bigint not null,
  primary key (tenant_id, id),
  unique (source),
  check (starts_at < ends_at),
  check (ended_at < ends_at)
);

create function refuse_change_of_grant() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.ended_at is not null or to_jsonb(new) - 'ended_at' <> to_jsonb(old) - 'ended_at' then
    raise exception '% is append-only', tg_table_name;
  end if;
  return new;
end
$$;
create trigger entitlement_grants_end_once before update or delete on entitlement_grants
  for each row execute function refuse_change_of_grant();

-- Counted for every new one where a plan limits them: from the index alone.
create index subject_routes_by_tenant on subject_routes (tenant_id);

-- Accepted events, retries included, per calendar month (UTC) of their arrival. Advanced by the commit that makes them durable.
create table event_quotas (
  tenant_id text not null,
  month_start bigint not null,
  used bigint not null check (used >= 0),
  -- Under which the last of them were accepted; null without a limit.
  event_limit bigint,
  primary key (tenant_id, month_start),
  constraint event_quotas_within_limit check (used <= event_limit)
) with (fillfactor = 50); -- Updated by every commit of events: the new versions fit beside the old ones.

-- The same, of what rating has taken off the queue: with what still waits there, quotas can be counted anew.
create table event_arrivals (
  tenant_id text not null,
  month_start bigint not null,
  event_count bigint not null,
  primary key (tenant_id, month_start)
) with (fillfactor = 50);
