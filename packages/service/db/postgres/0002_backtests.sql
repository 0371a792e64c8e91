-- Backtests: what stored usage would have cost by other rules. Nothing else is kept of them.
create table backtests (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  status text not null check (status in ('running', 'succeeded', 'failed', 'cancelled')),
  -- The body as sent, and the answer once there is one.
  request json not null,
  result json,
  failure_code text,
  failure_message text,
  events_done bigint not null default 0,
  events_total bigint not null,
  -- The node that runs it says so again and again; one that has fallen silent runs it no longer.
  alive_at_ms bigint not null,
  created_at bigint not null,
  finished_at bigint,
  primary key (project_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);
create unique index backtests_one_running on backtests (project_id) where status = 'running';
create index backtests_by_age on backtests (created_at);
