-- The ids of older events, moved from usage_event_ids: a sixth of the bytes. An id is in one of both tables; whoever
-- reads or copies all of them must read both in one snapshot. Within a project, blocks do not overlap: all ids of a
-- block are less than the first one of the next.
create table usage_event_id_blocks (
  project_no integer not null,
  first_id uuid not null,
  -- Distinct and ascending.
  ids uuid[] not null,
  primary key (project_no, first_id),
  constraint usage_event_id_blocks_first_check check (first_id = ids[1])
);
-- A block stays in its row, so that a look-up reads one page. Compression gains nothing, because ids are random.
alter table usage_event_id_blocks alter column ids set storage plain;

create table event_id_compaction (
  is_only boolean primary key default true check (is_only),
  -- All ids in blocks are of events with an earlier occurred_at, in Unix seconds: batches do not look for later events
  -- in blocks.
  compacted_before bigint not null,
  due_at_ms bigint not null,
  swept_at_ms bigint
);
-- The first compaction waits a day, because workers of an earlier version do not look in blocks.
insert into event_id_compaction (compacted_before, due_at_ms)
values (0, (extract(epoch from now()) * 1000)::bigint + 86400000);

create function raise_compacted_before() returns trigger language plpgsql as $$
declare
  -- An id begins with occurred_at.
  reached bigint := (
    select max(('x' || left(ids[cardinality(ids)]::text, 8))::bit(32)::bigint) + 1 from written
  );
begin
  update event_id_compaction set compacted_before = reached where compacted_before < reached;
  return null;
end
$$;
create trigger usage_event_id_blocks_raise after insert on usage_event_id_blocks
  referencing new table as written for each statement execute function raise_compacted_before();
