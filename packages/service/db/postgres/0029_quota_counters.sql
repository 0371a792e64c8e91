-- Each accepting process counts the events of a quota in a row of its own, so that none waits for the commit of
-- another. A quota is the sum of its row in event_quotas, which keeps what was counted before and what a rebuild has
-- counted, and its counters here. Appends of an earlier release still count in event_quotas.
create table event_quota_counters (
  tenant_id text not null,
  month_start bigint not null,
  counter_no smallint not null,
  used bigint not null check (used >= 0),
  -- Events that this counter may still count under event_limit without looking at the others.
  prepaid bigint not null,
  -- Null without a limit.
  event_limit bigint,
  primary key (tenant_id, month_start, counter_no),
  constraint event_quota_counters_within_prepaid check (prepaid >= 0)
) with (fillfactor = 50); -- Updated by every commit of events: the new versions fit beside the old ones.

-- The events that rating has taken off the queue, in a row for each batch that runs at the same time; event_arrivals
-- keeps what was counted before.
create table event_arrival_counters (
  tenant_id text not null,
  month_start bigint not null,
  counter_no smallint not null,
  event_count bigint not null,
  primary key (tenant_id, month_start, counter_no)
) with (fillfactor = 50);
