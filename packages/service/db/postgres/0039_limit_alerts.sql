-- The alerts of windows, so that each is sent once and ends once. Read only when usage passes a threshold.
-- oldest release: 0.1.0

create table limit_alerts (
  project_no integer not null,
  subject_type text not null,
  subject_id text not null,
  rule_no integer not null,
  window_start bigint not null,
  -- The percentage of the limit.
  percent integer not null check (percent > 0),
  -- How often usage has reached the percentage: the number of the latest alert.
  sequence integer not null check (sequence > 0),
  -- Whether usage has fallen below the percentage since that alert.
  recovered boolean not null,
  primary key (project_no, subject_type, subject_id, rule_no, window_start, percent)
);
