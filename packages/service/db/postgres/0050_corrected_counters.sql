-- Corrections take charge items out of counters, and put others in.
-- oldest release: 0.1.0

alter table usage_corrections
  -- Whether amounts by totals are posted as planned, or as the counters are when the correction is applied.
  add column counters text not null default 'exact' check (counters in ('exact', 'current')),
  -- What planning does, and applying: it reads events, then it counts their charge items, then it goes through the parts.
  add column phase text not null default 'events' check (phase in ('events', 'counters', 'parts'));

-- The periods of counters that a correction changes.
create table usage_correction_counters (
  tenant_id text not null,
  project_id text not null,
  correction_id text not null,
  key bytea not null,
  period_start bigint not null,
  -- Null for a lifetime.
  period_end bigint,
  -- What identifies the counter, and its definition.
  counter json not null,
  -- The first and the last part that change it; null where none does.
  first_part integer,
  last_part integer,
  is_counted boolean not null default false,
  -- Why its charge items cannot be priced: then none of their events is changed.
  failure_code text,
  failure_message text,
  -- The period as the next part expects it.
  quantity numeric not null default 0,
  amount numeric not null default 0,
  item_count bigint not null default 0,
  -- Whether a part has found it changed.
  is_moved boolean not null default false,
  -- The amount that its last part has added, because the period was changed meanwhile.
  closing_amount numeric not null default 0,
  primary key (project_id, correction_id, key, period_start),
  foreign key (project_id, correction_id) references usage_corrections (project_id, id) on delete cascade
);

-- The charge items that a correction takes out of counters, and those that it puts in.
create table usage_correction_counts (
  tenant_id text not null,
  project_id text not null,
  correction_id text not null,
  key bytea not null,
  period_start bigint not null,
  side text not null check (side in ('out', 'in')),
  raw_event_id uuid not null,
  -- The place of the charge item in its event.
  item integer not null,
  part_no integer not null,
  -- The order in which the items of a side are counted; 0 until it is known.
  position integer not null default 0,
  quantity numeric not null,
  value text,
  -- The rule whose price of the total applies.
  rule json not null,
  -- When an item to take out was rated.
  rated_at_ms bigint not null,
  -- The totals around it: as it was rated, or as it will be put in.
  total_before numeric,
  total_after numeric,
  -- Before discounts: what was charged for it, or will be.
  amount numeric not null,
  -- What taking it out gives back.
  given numeric not null default 0,
  -- Whether its event fails, or stays as it is because the result is the same.
  is_failed boolean not null default false,
  is_kept boolean not null default false,
  primary key (project_id, correction_id, key, period_start, side, raw_event_id, item),
  foreign key (project_id, correction_id) references usage_corrections (project_id, id) on delete cascade
);
create index usage_correction_counts_in_order
  on usage_correction_counts (project_id, correction_id, key, period_start, side, position);
create index usage_correction_counts_of_part on usage_correction_counts (project_id, correction_id, part_no);
create index usage_correction_counts_by_event on usage_correction_counts (project_id, raw_event_id);
