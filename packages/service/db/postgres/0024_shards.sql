-- Segments and batches are grouped by shard, so that workers and projectors share out the projects. A row keeps the
-- number that it was written with when the number of shards changes: it is rated and projected all the same.
-- Rows from before, and those of a process of an older version, are of shard 0.
alter table segments add column shard smallint not null default 0 check (shard between 0 and 63);
alter table usage_batches add column shard smallint not null default 0 check (shard between 0 and 63);
-- A claim reads one shard, oldest first, without reading past deferred segments.
create index segments_of_shard on segments (shard, id) where deferred_tenant_id is null;
drop index segments_new;

-- The number of shards of this installation: at most one row. Without it there is one shard.
create table sharding (
  is_only boolean primary key default true check (is_only),
  shards smallint not null check (shards between 1 and 64)
);
