-- Boards, and the charts that they own.

create table boards (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  name text not null,
  description text,
  timezone text not null,
  default_time_range_seconds integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

create table charts (
  tenant_id text not null,
  project_id text not null,
  -- Chosen by the client, or generated.
  id text not null,
  board_id text not null,
  title text not null,
  description text,
  chart_type text not null check (chart_type in ('line', 'area', 'bar')),
  position integer not null,
  size text not null check (size in ('half', 'full')),
  subject_type text,
  bucket_size text not null,
  -- json, not jsonb: it keeps the order of its keys.
  filters json not null,
  group_by text[] not null,
  measures text[] not null,
  metrics text[] not null,
  -- How many groups stand for themselves; null for all.
  groups_max integer,
  -- What it takes in the list of boards, about: the bytes of its body.
  bytes integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  foreign key (project_id, board_id) references boards (project_id, id) on delete cascade
);
create index charts_of_board on charts (project_id, board_id);
