-- Limits can count different values of a dimension, and limit the greatest quantity. The next migration checks the
-- rules that exist.
-- oldest release: 0.1.0
alter table usage_limit_plan_rules
  -- The dimension whose values a rule counts.
  add column of text,
  drop constraint usage_limit_plan_rules_measure_check,
  add constraint usage_limit_plan_rules_measure_check
    check (measure in ('amount', 'quantity', 'count', 'unique', 'max')) not valid;
alter table direct_limits
  add column of text,
  drop constraint direct_limits_measure_check,
  add constraint direct_limits_measure_check
    check (measure in ('amount', 'quantity', 'count', 'unique', 'max')) not valid;
-- Values of another dimension are another counter. Empty for other measures.
alter table limit_rules
  add column of text not null default '',
  drop constraint limit_rules_project_id_owner_id_limit_key_period_measure_cu_key,
  add constraint limit_rules_identity_key unique (project_id, owner_id, limit_key, period, measure, currency, of),
  drop constraint limit_rules_measure_check,
  add constraint limit_rules_measure_check
    check (measure in ('amount', 'quantity', 'count', 'unique', 'max')) not valid;

-- What windows of different values, and of greatest quantities, have seen.
create table window_values (
  project_no integer not null,
  subject_type text not null,
  subject_id text not null,
  rule_no integer not null,
  window_start bigint not null,
  -- 16 bytes: the beginning of the SHA-256 of a value, or 10^18 times a quantity.
  value uuid not null,
  -- How often it was counted, less how often it was taken back. Below zero where only the latter was counted.
  occurrences bigint not null check (occurrences <> 0),
  primary key (project_no, subject_type, subject_id, rule_no, window_start, value)
);

-- How many of them each window has. A window keeps a bounded number, so that it cannot grow without end.
create table window_value_sets (
  project_no integer not null,
  subject_type text not null,
  subject_id text not null,
  rule_no integer not null,
  window_start bigint not null,
  kept integer not null check (kept >= 0),
  -- Occurrences of values that are not kept.
  missed bigint not null check (missed >= 0),
  -- The greatest quantity that is not kept; null where all are.
  missed_up_to uuid,
  primary key (project_no, subject_type, subject_id, rule_no, window_start)
);
