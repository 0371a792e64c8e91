-- Processed events of the day with a charge item that nothing has priced. Null where such items were rated before this was
-- counted: the history has to be asked how many events they belong to.
alter table usage_event_totals add column unpriced_count bigint;
update usage_event_totals e set unpriced_count = 0 where not exists (
  select from usage_totals u where u.project_id = e.project_id and u.day = e.day and u.currency = ''
);
