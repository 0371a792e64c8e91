-- What a plan does not show is hidden first, and deleted when a while is over in which a longer plan brings it back.
alter table usage_retention
  -- The first day that is shown, days since 1970, UTC. Falls when a longer plan is bought, never below what was given up for deletion.
  add column shown_from_day integer;
update usage_retention set shown_from_day = retained_from_day;
alter table usage_retention
  alter column shown_from_day set not null,
  add constraint usage_retention_hidden check (shown_from_day >= retained_from_day);
