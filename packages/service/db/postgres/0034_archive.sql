-- Rows that were inserted into ClickHouse are kept in an archive, from which the history can be made again. The state of
-- the projection tells whether PostgreSQL and ClickHouse belong together.

-- Which days the rows of a batch are of, as days since 1970: the first day of each project of project_ids, and the last
-- day of all. Empty and null: not known.
alter table usage_batches add column first_days integer[] not null default '{}', add column last_day integer;
-- The number of the batch's group; set together with insert_group.
alter table usage_batches add column group_no bigint;

create table projection_state (
  is_only boolean primary key default true check (is_only),
  -- Names the history in ClickHouse that belongs to this database. ClickHouse records the numbers of groups under it.
  history_id uuid not null default gen_random_uuid(),
  -- Groups are numbered in the order in which they are formed.
  last_formed bigint not null default 0,
  -- The greatest number of a group that was ended: its rows are in ClickHouse.
  last_ended bigint not null default 0,
  -- Rows in ClickHouse that the archive does not have.
  unarchived_events bigint not null,
  -- Set while the history is made again: projectors wait, also after the process that did it has died.
  rebuild_since_ms bigint,
  check (last_ended <= last_formed)
);
insert into projection_state (unarchived_events)
select greatest(0, coalesce((select sum(processed_count + failed_count) from usage_event_totals), 0)
  - coalesce((select sum(event_count) from usage_batches), 0));

-- The objects of the archive. Each has rows of one storage; together they have each row of ClickHouse once.
create table archived_blocks (
  id bigint generated always as identity primary key,
  object_key text not null unique,
  -- As in usage_batches.
  dedicated_to integer,
  event_count integer not null check (event_count > 0),
  -- The size of the rows, uncompressed.
  byte_count bigint not null,
  -- How often blocks were joined to this one.
  level smallint not null,
  project_ids text[] not null,
  -- The first day of each project, as days since 1970, or an earlier day; and the last day of all, or a later day.
  first_days integer[] not null,
  last_day integer not null,
  check (cardinality(first_days) = cardinality(project_ids))
);
-- Finds blocks that are joined to larger ones.
create index archived_blocks_by_level on archived_blocks (level, dedicated_to, id);
