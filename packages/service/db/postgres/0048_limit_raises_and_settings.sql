-- Raises of limits for a time, and settings of projects.
-- oldest release: 0.1.0

create table limit_raises (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  route_id text not null,
  -- The rules with this key, of the route's plan and of the route itself.
  limit_key text not null,
  -- Added to the limit.
  amount numeric not null check (amount > 0),
  from_ms bigint not null,
  -- Exclusive.
  until_ms bigint not null,
  -- When it was ended by hand, before its time.
  ended_at_ms bigint,
  reason text not null,
  created_by text not null,
  primary key (project_id, id),
  foreign key (project_id, route_id) references subject_routes (project_id, id) on delete cascade
);
create index limit_raises_by_route on limit_raises (project_id, route_id);

create trigger refuse_moving_tenant before insert or update on limit_raises
  for each row execute function refuse_moving_tenant();
create trigger keep_row_of_moving_tenant before delete on limit_raises
  for each row execute function keep_row_of_moving_tenant();

-- A project without a row has the default settings.
create table project_settings (
  tenant_id text not null,
  project_id text not null,
  -- Whether checks and leases of subjects without a route are allowed.
  unknown_subjects text not null check (unknown_subjects in ('allow', 'deny')),
  primary key (project_id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

create trigger refuse_moving_tenant before insert or update on project_settings
  for each row execute function refuse_moving_tenant();
create trigger keep_row_of_moving_tenant before delete on project_settings
  for each row execute function keep_row_of_moving_tenant();
