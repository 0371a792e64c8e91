-- Dimensions with more values than usage can be summed by: new rows of ClickHouse's rollup go without them, and its events
-- alone tell their values. Never taken back: old rows would still go without them.
create table raw_only_dimensions (
  tenant_id text not null,
  project_id text not null,
  name text not null,
  -- By the clock of the database: workers tell from it whether all readers know by now.
  added_at_ms bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
  primary key (project_id, name),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);
