-- Statements that write many leases or idempotency keys look once whether their tenants are moving.
-- oldest release: 0.1.0

-- As refuse_moving_tenant, for all rows that a statement has written. It looks after the statement, by a snapshot that
-- is later than those of a trigger of each row.
create function refuse_rows_of_moving_tenants() returns trigger language plpgsql as $$
begin
  if exists (
    select from tenant_moves where state in ('frozen', 'moved', 'arriving', 'leaving')
      and tenant_id is distinct from current_setting('tollgate.moving', true)
      and tenant_id in (select tenant_id from written)
  ) then
    raise exception using errcode = 'TG001', message = 'the tenant is moving to another cell';
  end if;
  return null;
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['budget_leases', 'idempotent_requests'] loop
    execute format('drop trigger refuse_moving_tenant on %I', name);
    execute format(
      'create trigger refuse_new_of_moving_tenant after insert on %I referencing new table as written
       for each statement execute function refuse_rows_of_moving_tenants()', name);
    execute format(
      'create trigger refuse_moving_tenant after update on %I referencing new table as written
       for each statement execute function refuse_rows_of_moving_tenants()', name);
  end loop;
end $$;
