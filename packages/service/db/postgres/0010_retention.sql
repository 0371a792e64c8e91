-- How much of each project's history is kept. What was posted, and the totals, are kept for good.

-- Projects of which everything is kept have no row. Written before anything is deleted, and only ever raised.
create table usage_retention (
  tenant_id text not null,
  project_id text primary key,
  -- The first day that is kept: days since 1970, UTC.
  retained_from_day integer not null,
  recorded_at_ms bigint not null,
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

-- One row: when history is to be looked through next, by whichever process is first.
create table retention_sweep (
  is_only boolean primary key default true check (is_only),
  due_at_ms bigint not null,
  -- When it was last done to its end.
  swept_at_ms bigint
);
insert into retention_sweep (due_at_ms) values (0);
