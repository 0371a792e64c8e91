-- Totals over a period, from which charge items with a cumulative price get their amounts.
-- oldest release: 0.1.0

-- Definitions of the counters of published versions. A later version must not change one.
create table rule_set_counters (
  tenant_id text not null,
  project_id text not null,
  rule_set_id text not null,
  counter text not null,
  -- JSON text: equal definitions are equal texts.
  definition text not null,
  primary key (project_id, rule_set_id, counter),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

-- One row for each period of a counter in which there was a charge item.
create table usage_counters (
  tenant_id text not null,
  project_id text not null,
  -- Hash of everything that identifies the counter.
  key bytea not null check (length(key) = 16),
  period_start bigint not null,
  -- Null for a lifetime.
  period_end bigint,
  rule_set_id text not null,
  counter text not null,
  -- Empty where the counter is not one of a subject, or of an account.
  subject_type text not null,
  subject_id text not null,
  account_id text not null,
  -- The values of the dimensions that split the counter; null for an absent one.
  by_dimensions jsonb not null,
  currency text not null,
  quantity numeric not null,
  -- The sum of the charge items' amounts, before discounts.
  amount numeric not null,
  item_count bigint not null check (item_count >= 0),
  -- How many rows of usage_counter_values the period has.
  value_count integer not null check (value_count >= 0),
  -- The rule of the last charge item: it prices the next one too, unless there is a newer version.
  rule_set_version integer not null,
  rule_name text not null,
  primary key (project_id, key, period_start)
) with (fillfactor = 80);
create index usage_counters_by_name on usage_counters (project_id, rule_set_id, counter, period_start);
create index usage_counters_by_subject on usage_counters (project_id, subject_type, subject_id, period_start)
  where subject_id <> '';

-- The values that a counter of distinct values, or of the greatest quantity, has seen in a period.
create table usage_counter_values (
  tenant_id text not null,
  project_id text not null,
  key bytea not null,
  period_start bigint not null,
  value text not null,
  item_count bigint not null check (item_count > 0),
  primary key (project_id, key, period_start, value)
);

-- Settings of accounts: the periods of their counters, and what their owner wants to remember.
alter table accounts
  add column timezone text not null default 'UTC',
  -- Unix seconds; null for when the account was created.
  add column anchor bigint,
  add column metadata jsonb not null default '{}';
