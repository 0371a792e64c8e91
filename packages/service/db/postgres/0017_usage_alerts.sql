-- Alerts about usage that were sent in an hour: each at most once, and so many of a project at most.
create table usage_alerts (
  tenant_id text not null,
  project_id text not null,
  -- Unix seconds: start of the clock hour in which the usage was rated.
  hour bigint not null,
  type text not null,
  -- A metric or a failure code.
  name text not null,
  primary key (project_id, hour, type, name),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);
