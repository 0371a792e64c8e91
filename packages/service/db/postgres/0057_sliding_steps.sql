-- The usage of sliding windows, in steps of at most a sixtieth of their duration.
-- oldest release: 0.1.0
create table sliding_steps (
  project_no integer not null,
  subject_type text not null,
  subject_id text not null,
  rule_no integer not null,
  -- When the usage occurred, Unix seconds; the end is exclusive.
  step_start bigint not null,
  step_end bigint not null,
  -- When the usage counts. From the start of its step, or from the second at which it occurs if that was ahead when it
  -- was rated.
  counts_from bigint not null,
  counts_until bigint not null,
  used numeric not null,
  opened_at_ms bigint not null,
  primary key (project_no, subject_type, subject_id, rule_no, step_start, counts_from)
);
