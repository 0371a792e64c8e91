-- An append pays for the triggers of everything that it writes. So it checks by itself that no tenant of its events is
-- moving: it cannot spend what the counters of such a tenant have prepaid. Counters are opened, and prepay, only in
-- transactions that lock the row of the quota, so a trigger checks that row. Earlier releases write it in each append.
drop trigger refuse_new_of_moving_tenant on event_quota_counters;
drop trigger refuse_prepaid_of_moving_tenant on event_quota_counters;
create trigger refuse_moving_tenant before insert or update on event_quotas
  for each row execute function refuse_moving_tenant();

-- Events that are reprocessed count against no quota.
drop trigger refuse_moving_tenant on segments;
create trigger refuse_moving_tenant before insert on segments
  for each row when (0 = any (new.project_event_counts)) execute function refuse_segment_of_moving_tenant();

-- Refuses a new counter that already counts: an append may advance a counter, but not open it. The error is that of a
-- counter that has prepaid too little, because both are prepaid next. A copy brings counters that have counted.
create function refuse_unopened_counter() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'check_violation', constraint = 'event_quota_counters_within_prepaid',
    message = 'the counter of the quota is not open';
end $$;

create trigger counters_are_opened_empty after insert on event_quota_counters
  for each row when (new.used > 0 and not is_part_of_copy(new.tenant_id)) execute function refuse_unopened_counter();
