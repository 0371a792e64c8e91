-- Events are prepaid in a transaction of their own, so the check of segments does not cover it. An append, which only
-- uses what was prepaid, also writes a segment, which is checked.
create trigger refuse_new_of_moving_tenant before insert on event_quota_counters
  for each row execute function refuse_moving_tenant();
create trigger refuse_prepaid_of_moving_tenant before update on event_quota_counters
  for each row when (old.event_limit is distinct from new.event_limit or old.prepaid < new.prepaid)
  execute function refuse_moving_tenant();
